import { checkPackage, type Package } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** What publint says of a tarball, suggestions included. */
export async function publintFindings(tarball: ArrayBuffer): Promise<string[]> {
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

/**
 * What arethetypeswrong says of a tarball to who imports it as ESM. The packages are ESM only: CommonJS and the resolution of
 * TypeScript 4 (`node10`, blind to `exports`) are not supported, and not asked.
 */
export async function typeFindings(unpacked: Package): Promise<string[]> {
  const analysis = await checkPackage(unpacked);
  if (analysis.types === false) return ['arethetypeswrong: finds no types'];
  return analysis.problems
    .filter(
      (problem) =>
        !('resolutionKind' in problem) ||
        !(problem.resolutionKind === 'node10' || problem.resolutionKind === 'node16-cjs'),
    )
    .map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`);
}
