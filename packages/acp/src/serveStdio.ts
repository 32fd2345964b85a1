import { Readable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { openAcp, type OpenOptions } from './openAcp.ts'

/** The input and output of a process that carries ACP. */
export interface StdioEnds {
  readonly input: Readable
  /** Writes bytes. Calls `done` once they were taken, or never will be. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): void
  /** Ends the connection from this side. */
  readonly signal: AbortSignal
}

/** Serves ACP as lines of JSON. Resolves once the input has ended or `signal` is aborted. Agents continue. */
export async function serveStdio(
  { input, write, signal }: StdioEnds,
  access: AgentAccess,
  options: OpenOptions,
): Promise<void> {
  const output = new WritableStream<Uint8Array>({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        write(bytes, (error) => (error == null ? resolve() : reject(error)))
      }),
  })
  const bytes = Readable.toWeb(input) as ReadableStream<Uint8Array>
  const connection = openAcp(ndJsonStream(output, bytes), access, options)
  const end = (): void => connection.close()
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  await connection.closed
  signal.removeEventListener('abort', end)
}
