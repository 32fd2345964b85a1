import { once } from 'node:events'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import { words, type HeldWorld } from './heldWorld.ts'

/** Something that was said through a door. */
export interface Saying {
  /** Everything that came back so far. */
  readonly heard: readonly string[]
  /** Resolves with how it was answered, `cut` if the connection ended before. */
  readonly answer: Promise<string>
  /** The client leaves, as one that is lost; resolves once it has. */
  leave(): Promise<void>
  /** Takes back what was said, in the way of the door. */
  cancel(): void
  /** Says the same again, over the same connection or another one; resolves with how that is answered. */
  again(): Promise<string>
}

/** A client that is connected, and has said nothing yet. */
export interface Caller {
  say(): Saying
}

export interface Door {
  readonly name: string
  /** True if leaving is the way to cancel. */
  readonly leavingCancels?: true
  connect(world: Pick<HeldWorld, 'port' | 'known'>): Promise<Caller>
}

type Json = { readonly [field: string]: unknown }

/** A WebSocket, and a list of what came there. `endOf`: how a request was answered by a message, if it was. */
async function socketTo(port: number, path: string, protocols: string[] = []) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols)
  const heard: string[] = []
  const looks = new Set<() => void>()
  let isClosed = false
  const look = (): void => {
    for (const each of looks) each()
  }
  socket.on('error', () => {})
  socket.on('message', (data) => {
    const value = JSON.parse((data as Buffer).toString()) as unknown
    for (const one of Array.isArray(value) ? value : [value]) heard.push(JSON.stringify(one))
    look()
  })
  socket.on('close', () => {
    isClosed = true
    look()
  })
  const answer = (endOf: (message: Json, text: string) => string | undefined, from = 0): Promise<string> =>
    new Promise((resolve) => {
      const each = (): void => {
        const found = heard
          .slice(from)
          .map((text) => endOf(JSON.parse(text) as Json, text))
          .find((end) => end !== undefined)
        if (found === undefined && !isClosed) return
        looks.delete(each)
        resolve(found ?? 'cut')
      }
      looks.add(each)
      each()
    })
  const leave = async (): Promise<void> => {
    if (isClosed) return
    const closed = once(socket, 'close')
    socket.terminate()
    await closed
  }
  const isOpen = new Promise<void>((resolve) => {
    socket.once('open', resolve)
    socket.once('close', () => resolve())
  })
  return { heard, send: (message: object) => socket.send(JSON.stringify(message), () => {}), answer, leave, isOpen }
}

/** A request over HTTP whose answer is read as it comes. */
function requested(port: number, path: string, body: object, endOf: (status: number, text: string) => string): Saying {
  const gone = new AbortController()
  const heard: string[] = []
  const post = (signal?: AbortSignal): Promise<string> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
      .then(async (response) => {
        for await (const bytes of response.body!) heard.push(Buffer.from(bytes).toString())
        return endOf(response.status, heard.join(''))
      })
      .catch(() => 'cut')
  return {
    heard,
    answer: post(gone.signal),
    leave: async () => gone.abort(),
    cancel: () => gone.abort(),
    again: () => post(),
  }
}

const bridge: Door = {
  name: 'bridge',
  async connect({ port, known }) {
    const { heard, send, answer, leave, isOpen } = await socketTo(port, '/bridge', [bridgeProtocol])
    await isOpen
    send({ type: 'hello' })
    const endOf = ({ type, id, code }: Json, text: string): string | undefined =>
      type === 'error' && (id === 'p' || id === 's')
        ? String(code)
        : /"type":"run.end".*"stopReason":"(\w+)"/.exec(text)?.[1]
    return {
      say() {
        send({ type: 'agent.subscribe', id: 's', agentId: 'a', fromSeq: known + 1 })
        const prompt = { type: 'agent.prompt', id: 'p', agentId: 'a', content: words }
        send(prompt)
        return {
          heard,
          leave,
          answer: answer(endOf),
          cancel: () => send({ type: 'agent.abort', id: 'c', agentId: 'a' }),
          again() {
            send(prompt)
            return answer(({ type, id, code }) => (id !== 'p' ? undefined : type === 'ok' ? 'ok' : String(code)))
          },
        }
      },
    }
  },
}

const acpSocket: Door = {
  name: 'ACP',
  async connect({ port }) {
    const { heard, send, answer, leave, isOpen } = await socketTo(port, '/acp')
    const endOf =
      (asked: string) =>
      ({ id, result, error }: Json, text: string): string | undefined =>
        id !== asked
          ? undefined
          : error === undefined
            ? String((result as Json)['stopReason'])
            : /"code":"(\w+)"/.exec(text)?.[1]
    await isOpen
    send({ jsonrpc: '2.0', id: 'i', method: 'initialize', params: { protocolVersion: 1 } })
    await answer(endOf('i'))
    send({ jsonrpc: '2.0', id: 'l', method: 'session/load', params: { sessionId: 'a', cwd: '/', mcpServers: [] } })
    await answer(endOf('l'))
    return {
      say() {
        const ask = (id: string): void => {
          const params = { sessionId: 'a', prompt: [{ type: 'text', text: words }] }
          send({ jsonrpc: '2.0', id, method: 'session/prompt', params })
        }
        ask('p')
        return {
          heard,
          leave,
          answer: answer(endOf('p')),
          cancel: () => send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'a' } }),
          again() {
            ask('q')
            return answer(endOf('q'))
          },
        }
      },
    }
  },
}

const run = { threadId: 'a', runId: 'r1', tools: [], context: [], protocolVersion: '1.0' }
const toRun = { ...run, messages: [{ id: 'm1', role: 'user', content: words }] }
const toAbort = { ...run, runId: 'r2', messages: [], forwardedProps: { command: 'abort' } }

const agUiEnd = (text: string): string | undefined =>
  /"type":"RUN_ERROR".*?"code":"(\w+)"/.exec(text)?.[1] ??
  (/"type":"RUN_FINISHED"/.test(text) ? (/"result":"?(\w+)/.exec(text)?.[1] ?? 'finished') : undefined)

const agUiHttp: Door = {
  name: 'AG-UI',
  connect: async ({ port }) => ({
    say() {
      const saying = requested(port, '/ag-ui', toRun, (status, text) =>
        status === 200 ? (agUiEnd(text) ?? 'cut') : (/"code":"(\w+)"/.exec(text)?.[1] ?? String(status)),
      )
      return { ...saying, cancel: () => void requested(port, '/ag-ui', toAbort, () => '') }
    },
  }),
}

const agUiSocket: Door = {
  name: 'AG-UI socket',
  async connect({ port }) {
    const { heard, send, answer, leave, isOpen } = await socketTo(port, '/ag-ui')
    await isOpen
    const endOf = ({ runId }: Json, text: string): string | undefined => (runId === 'r1' ? agUiEnd(text) : undefined)
    return {
      say() {
        send(toRun)
        return {
          heard,
          leave,
          answer: answer(endOf),
          // Those of one socket are begun in turn.
          cancel: () => void requested(port, '/ag-ui', toAbort, () => ''),
          again() {
            send(toRun)
            return answer(endOf)
          },
        }
      },
    }
  },
}

const chat = {
  id: 'a',
  trigger: 'submit-message',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: words }] }],
}
const chatEnd = (text: string): string | undefined =>
  /"type":"abort"/.test(text)
    ? 'aborted'
    : /"type":"error"/.test(text)
      ? 'error'
      : /"type":"finish"/.test(text)
        ? 'finished'
        : undefined

const chatHttp: Door = {
  name: 'useChat',
  connect: async ({ port }) => ({
    say() {
      const saying = requested(port, '/api/chat', chat, (status, text) =>
        status === 200 ? (chatEnd(text) ?? 'cut') : String(status),
      )
      const stop = (): Promise<unknown> =>
        fetch(`http://127.0.0.1:${port}/api/chat/a/stream`, { method: 'DELETE' }).catch(() => {})
      return { ...saying, cancel: () => void stop() }
    },
  }),
}

const chatSocket: Door = {
  name: 'useChat socket',
  async connect({ port }) {
    const { heard, send, answer, leave, isOpen } = await socketTo(port, '/api/chat')
    await isOpen
    const endOf =
      (asked: string) =>
      ({ requestId }: Json, text: string): string | undefined =>
        requestId === asked ? chatEnd(text) : undefined
    return {
      say() {
        send({ type: 'send', requestId: 'r', id: 'a', body: chat })
        return {
          heard,
          leave,
          answer: answer(endOf('r')),
          cancel: () => send({ type: 'abort', requestId: 'r' }),
          again() {
            send({ type: 'send', requestId: 'q', id: 'a', body: chat })
            return answer(endOf('q'))
          },
        }
      },
    }
  },
}

const mcp = (era: 'legacy' | 'modern'): Door => ({
  name: `MCP, ${era}`,
  ...(era === 'modern' ? { leavingCancels: true } : {}),
  async connect({ port }) {
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
    const ask = (signal?: AbortSignal): Promise<string> =>
      client
        .callTool({ name: 'teller', arguments: { session: 'a', task: words } }, signal === undefined ? {} : { signal })
        .then(
          ({ structuredContent, content }) => {
            const { stopReason, code } = (structuredContent ?? {}) as Json
            const said: unknown = stopReason ?? code
            return typeof said === 'string' ? said : JSON.stringify(said ?? content)
          },
          () => 'cut',
        )
    return {
      say() {
        const stop = new AbortController()
        return {
          heard: [],
          answer: ask(stop.signal),
          leave: () => client.close(),
          cancel: () => stop.abort(),
          again: () => ask(),
        }
      },
    }
  },
})

export const doors: readonly Door[] = [
  bridge,
  acpSocket,
  agUiHttp,
  agUiSocket,
  chatHttp,
  chatSocket,
  mcp('legacy'),
  mcp('modern'),
]
