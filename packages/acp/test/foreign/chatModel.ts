import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { openaiWire } from '../../../../test/support/wireServer/openaiWire.ts'
import type { WireBlock } from '../../../../test/support/wireServer/wireFamily.ts'

/** A call that the model makes next. */
export interface Step {
  readonly name: string
  readonly input: object
}

interface Asked {
  readonly messages?: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tools?: readonly unknown[]
}

export interface ChatModel {
  /** Where it is, as a base URL of OpenAI's chat completions. */
  readonly url: string
  /** The results of the calls that it made, in order. */
  readonly results: readonly string[]
  /** The last message of each request that was no result. */
  readonly asked: readonly string[]
}

/** Serves a model that makes these calls in their order, whatever asks it and how often, and then says that all is done. `before` is called before each. */
export async function serveChatModel(
  { cleanup }: CaseContext,
  steps: readonly Step[],
  before: (step: number) => unknown = () => {},
): Promise<ChatModel> {
  let results: readonly string[] = []
  const asked: string[] = []
  const blockFor = ({ messages = [], tools = [] }: Asked): WireBlock => {
    const told = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content))
    if (told.length > results.length) results = told
    const last = messages.at(-1)
    if (last?.role === 'user') asked.push(JSON.stringify(last.content))
    const step = steps[told.length]
    // Agents ask for titles and the like, too: those have no tools.
    if (step === undefined || tools.length < 2) return { text: ['All ', 'done.'] }
    before(told.length)
    return { call: `c${told.length}`, name: step.name, input: [JSON.stringify(step.input)] }
  }
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
      const block = blockFor(JSON.parse(body || '{}') as Asked)
      const { toolUse, stop } = openaiWire.stops
      const reply = { blocks: [block], stop: 'call' in block ? toolUse : stop, usage: { input: 1_200, output: 40 } }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end([...openaiWire.open(reply), ...openaiWire.finish(reply)].join(''))
    })()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    get results() {
      return results
    },
  }
}
