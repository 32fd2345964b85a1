import { WebSocket } from 'ws'
import type { Keys, Place } from './world.ts'

/** Who asks, where, about which agent. */
export interface Asking {
  readonly place: Place
  readonly token: string
  readonly agent: string
  /** Keys of what waits there. */
  readonly keys: Keys
}

/** The longest that an answer is waited for which may never come, in milliseconds: nothing is measured by it. */
const giveUpMs = 5_000

interface Talk {
  /** Everything that came so far. */
  readonly heard: string[]
  send(message: object): void
  /** Resolves once something fits, or the socket is closed. */
  until(fits: (message: Told) => boolean): Promise<Told | undefined>
}

interface Told {
  readonly type?: string
  readonly id?: unknown
  readonly method?: string
  readonly requestId?: unknown
  readonly runId?: unknown
  readonly params?: { readonly requestedSchema?: object }
}

/** Talks over a WebSocket, and gives all that was said there. */
export async function over(
  url: string,
  token: string,
  protocols: string[],
  talk: (talk: Talk) => Promise<void>,
  react?: (message: Told, send: (message: object) => void) => void,
): Promise<string> {
  const socket = new WebSocket(url, protocols, { headers: { authorization: `Bearer ${token}` } })
  const heard: string[] = []
  const looks = new Set<() => void>()
  const told: Told[] = []
  let isClosed = false
  const look = (): void => {
    for (const each of looks) each()
  }
  const send = (message: object): void => socket.send(JSON.stringify(message), () => {})
  socket.on('error', () => {})
  socket.on('message', (data) => {
    const text = (data as Buffer).toString()
    heard.push(text)
    const message = JSON.parse(text) as Told | Told[]
    for (const one of Array.isArray(message) ? message : [message]) {
      told.push(one)
      react?.(one, send)
    }
    look()
  })
  socket.on('close', (code, reason) => {
    heard.push(`closed ${code} ${reason.toString()}`)
    isClosed = true
    look()
  })
  await new Promise<void>((resolve) => {
    socket.once('open', resolve)
    socket.once('close', () => resolve())
  })
  const until = (fits: (message: Told) => boolean): Promise<Told | undefined> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => end(undefined), giveUpMs)
      const end = (found: Told | undefined): void => {
        clearTimeout(timer)
        looks.delete(each)
        resolve(found)
      }
      const each = (): void => {
        const found = told.find(fits)
        if (found !== undefined || isClosed) end(found)
      }
      looks.add(each)
      each()
    })
  if (!isClosed) await talk({ heard, send, until })
  socket.terminate()
  return heard.join('\n')
}

/** Asks over HTTP, and gives the status and the body. */
export async function fetched(
  { place, token }: Asking,
  path: string,
  { method = 'GET', body, headers = {} }: { method?: string; body?: object; headers?: Record<string, string> } = {},
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${place.port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(giveUpMs),
  })
  return `${response.status} ${await response.text()}`
}
