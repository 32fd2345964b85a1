import { formatCount } from '../words/numbers.ts'

/** Access to the server of the page. Rejects if the server cannot be reached, and when aborted. */
export interface BytesPort {
  /** `path`: relative to the page. */
  get(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>
}

interface Wanted {
  /** Path of the file, relative to the page. */
  readonly path: string
  readonly token: string | undefined
  /** Size of the file in bytes. */
  readonly bytes: number
}

/** Reads a whole file from the server of the page. Rejects with a sentence for a person, and with the reason of `signal`. */
export async function readBytes(ports: BytesPort, { path, token, bytes }: Wanted, signal: AbortSignal): Promise<Blob> {
  let response: Response
  try {
    response = await ports.get(path, token === undefined ? {} : { authorization: `Bearer ${token}` }, signal)
  } catch (thrown) {
    signal.throwIfAborted()
    throw new Error('The server cannot be reached. Try again.', { cause: thrown })
  }
  if (!response.ok) {
    // What else it says is of no use, and may be long.
    await response.body?.cancel()
    throw new Error(refusals[response.status] ?? `The server answered with status ${response.status}. Try again.`)
  }
  const blob = await response.blob().catch((thrown: unknown) => {
    signal.throwIfAborted()
    throw new Error('The connection broke off. Try again.', { cause: thrown })
  })
  if (blob.size === bytes) return blob
  throw new Error(`Only ${formatCount(blob.size)} of its ${formatCount(bytes)} bytes came. Try again.`)
}

const refusals: Readonly<Record<number, string>> = {
  401: 'The server wants a token, or another one: that of this page is missing, wrong or has expired.',
  403: 'The token of this page does not reach the agent that keeps it.',
  404: 'It is no longer kept: there is room for only so much beside a log, and what was used longest ago went first.',
  503: 'The server has no room for another request now. Try again in a moment.',
}
