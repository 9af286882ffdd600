export { type PackedPackage, packPackages } from './pack.ts';
export {
  type ExportTarget,
  type Manifest,
  type PublishedPackage,
  publishedPackages,
  readManifest,
  repositoryRoot,
} from './published-packages.ts';
