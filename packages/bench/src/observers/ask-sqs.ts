interface Answer {
  readonly QueueUrl?: string;
  readonly QueueUrls?: readonly string[];
  readonly Attributes?: Readonly<Record<string, string>>;
}

/** One request to the emulator, past every client. An error of the service is an answer without content. */
export async function askSqs(location: string, action: string, body: unknown): Promise<Answer> {
  const response = await fetch(new URL(location).origin, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Answer;
}
