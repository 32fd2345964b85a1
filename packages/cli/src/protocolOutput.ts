import { Writable } from 'node:stream'
import type { CliHost } from './cliHost.ts'

/** Standard output reserved for a protocol. */
export interface ProtocolOutput {
  /** Writes bytes. Calls `done` once they were taken, or never will be. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void
  /** The output as a stream. */
  readonly stream: Writable
  giveBack(): void
}

/** Redirects a module's output to standard error, so that it does not mix with protocol messages. */
export function takeOutput({ stdout, stderr }: CliHost): ProtocolOutput {
  const { write } = stdout
  const send = write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  const writeBytes: ProtocolOutput['write'] = (bytes, done) => void send(bytes, done)
  return {
    write: writeBytes,
    stream: new Writable({ write: (chunk: Uint8Array, _, done) => writeBytes(chunk, done) }),
    giveBack: () => void (stdout.write = write),
  }
}
