import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentCard, TaskState, type Message, type Task } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server'
import type { CaseContext } from '../../../test/support/suite.ts'
import { artifactOf, dataPart, messageOf, textIn, textPart } from '../src/messages.ts'

export interface Foreign {
  readonly url: string
  /** Methods that were asked for, in order. */
  readonly methods: string[]
  /** Texts of the messages that arrived. */
  readonly texts: string[]
  readonly headers: (string | undefined)[]
  /** Lets tasks that wait go on. */
  readonly letGo: () => void
}

interface ForeignOptions {
  readonly streaming?: boolean
  /** The card, changed. */
  readonly card?: (card: AgentCard, url: string) => unknown
  /** Answers a method in place of the SDK; `undefined`: the SDK does. Closes the connection: `drop`. */
  readonly instead?: (method: string, count: number) => 'drop' | 'error' | undefined
}

/** A server of the SDK, with its own store of tasks: it asks for a colour, waits, fails, or says what it was told. */
export async function foreignServer(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: ForeignOptions = {},
): Promise<Foreign> {
  const methods: string[] = []
  const texts: string[] = []
  const headers: (string | undefined)[] = []
  const gate = Promise.withResolvers<void>()
  const executor = {
    async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
      const text = textIn(userMessage.parts)
      texts.push(text)
      const status = (state: TaskState, words?: string) => ({
        state,
        timestamp: new Date().toISOString(),
        message: words === undefined ? undefined : said(words, taskId, contextId),
      })
      const publish = (state: TaskState, words?: string): void =>
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, words), metadata: undefined }))
      const known: Task = task ?? {
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }
      bus.publish(AgentEvent.task({ ...known, status: status(TaskState.TASK_STATE_WORKING) }))
      if (text.includes('wait')) await gate.promise
      if (text.includes('fail')) publish(TaskState.TASK_STATE_FAILED, 'It broke.')
      else if (text.includes('ask')) publish(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which colour?')
      else if (text.includes('sign in')) publish(TaskState.TASK_STATE_AUTH_REQUIRED, 'Sign in.')
      else {
        publish(TaskState.TASK_STATE_WORKING, 'Nearly done.')
        bus.publish(
          AgentEvent.artifactUpdate({
            taskId,
            contextId,
            artifact: artifactOf('a', 'answer', [textPart(`It was told: ${text}`), dataPart({ told: text })]),
            append: false,
            lastChunk: true,
            metadata: undefined,
          }),
        )
        publish(TaskState.TASK_STATE_COMPLETED)
      }
      bus.finished()
    },
    cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: '',
          status: { state: TaskState.TASK_STATE_CANCELED, timestamp: undefined, message: undefined },
          metadata: undefined,
        }),
      )
      bus.finished()
      gate.resolve()
      return Promise.resolve()
    },
  }
  let counted = new Map<string, number>()
  const serving: { transport?: JsonRpcTransportHandler; card?: unknown } = {}
  const server = createServer((request, response) => {
    headers.push(request.headers.authorization)
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => void answer())
    async function answer(): Promise<void> {
      if (request.method === 'GET') {
        response.setHeader('content-type', 'application/json')
        const { card } = serving
        return void response.end(typeof card === 'string' ? card : JSON.stringify(card))
      }
      const asked = JSON.parse(body) as { readonly method: string; readonly id: unknown }
      methods.push(asked.method)
      const count = (counted.get(asked.method) ?? 0) + 1
      counted = new Map([...counted, [asked.method, count]])
      const instead = options.instead?.(asked.method, count)
      if (instead === 'drop') return void request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      if (instead === 'error')
        return void response.end(
          JSON.stringify({ jsonrpc: '2.0', id: asked.id, error: { code: -32_603, message: 'No.' } }),
        )
      const given = await serving.transport!.handle({ ...asked }, new ServerCallContext({ requestedVersion: '1.0' }))
      if (!(Symbol.asyncIterator in given)) return void response.end(JSON.stringify(given))
      response.setHeader('content-type', 'text/event-stream')
      for await (const event of given) response.write(`data: ${JSON.stringify(event)}\n\n`)
      response.end()
    }
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => {
    gate.resolve()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const own = cardOf(url, options.streaming ?? true)
  serving.transport = new JsonRpcTransportHandler(new DefaultRequestHandler(own, new InMemoryTaskStore(), executor))
  serving.card = options.card?.(own, url) ?? AgentCard.toJSON(own)
  return { url, methods, texts, headers, letGo: () => gate.resolve() }
}

const said = (words: string, taskId: string, contextId: string): Message =>
  messageOf('agent', [textPart(words)], { messageId: `${taskId} ${words}`, taskId, contextId })

const cardOf = (url: string, streaming: boolean): AgentCard => ({
  name: 'stranger',
  description: 'Does things.',
  version: '1',
  provider: undefined,
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
  capabilities: { streaming, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
})
