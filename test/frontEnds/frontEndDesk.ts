import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { z } from 'zod'
import {
  createRuntime,
  defineAgent,
  defineTool,
  policyModel,
  type AgentDefinition,
  type Model,
  type ModelRequest,
  type Runtime,
  type Store,
} from '../../src/index.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { frontEndFiles, type FrontEnd } from './frontEndLab.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, type CaseContext } from '../support/suite.ts'
import type { heldReply } from '../../packages/ag-ui/test/agUiHarness.ts'
import type { Endpoint } from '../../packages/bridge/src/server/endpoint.ts'

const plan = z.object({ title: z.string(), steps: z.array(z.string()) })

const inputs: Readonly<Record<string, (value: string) => object>> = {
  paint: (colour) => ({ colour }),
  pickColour: (of) => ({ of: of.split(',') }),
}

/** Calls that are asked for by `one: a and two: b`. */
const callsIn = (said: string): { name: string; input: object }[] =>
  said.split(' and ').flatMap((one) => {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(one) ?? []
    return name === undefined ? [] : [{ name, input: inputs[name]?.(value) ?? { value } }]
  })

/** Does what it is told to, and repeats the rest; its answer to "hold" is `held`, and at "fail" it fails. */
function deskModel(held: ReturnType<typeof heldReply> | undefined): Model {
  const model = policyModel(({ messages }) => {
    const said = lastText(messages)
    if (messages.at(-1)!.role === 'toolResult') return `It was: ${said}.`
    const toolCalls = callsIn(said)
    return toolCalls.length === 0 ? `You said: ${said}.` : { text: 'I call.', toolCalls }
  })
  return {
    id: 'test:desk',
    async *stream(request, given) {
      const said = lastText(request.messages)
      if (said === 'fail') yield { type: 'error', error: { kind: 'badRequest', message: 'the model is out' } }
      else yield* said === 'hold' && held !== undefined ? held.parts : model.stream(request, given)
    },
  }
}

const lastText = (messages: ModelRequest['messages']): string =>
  messages
    .at(-1)!
    .content.map((block) => (block.type === 'text' ? block.text : ''))
    .join('')

/** An agent with all that a chat in a page has to do with. */
export const deskAgent = ({ held }: { readonly held?: ReturnType<typeof heldReply> } = {}): AgentDefinition =>
  defineAgent({
    name: 'desk',
    state: { schema: plan, initial: { title: '', steps: [] } },
    model: deskModel(held),
    tools: [
      tool('note', (input, { state }) => {
        state.of(plan).update((draft) => void draft.steps.push((input as { value: string }).value))
        return 'noted'
      }),
      tool('book', (input) => `booked ${(input as { value: string }).value}`, { needsApproval: true }),
      defineTool({ name: 'paint', description: 'Paints the page.', input: z.object({ colour: z.string() }) }),
      defineTool({ name: 'pickColour', description: 'A person picks.', input: z.object({ of: z.array(z.string()) }) }),
    ],
  })

export interface Desk {
  /** Origin of the page and of the endpoint. */
  readonly url: string
  readonly runtime: Runtime
  readonly store: Store
  /** Ends it as a process that is killed. */
  kill(): Promise<void>
}

/** A server with the agent, and a page; everything is closed after the case. */
export async function openDesk(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  page: FrontEnd,
  {
    agent = deskAgent(),
    store = memoryStore(),
    port = 0,
    endpoints,
  }: {
    readonly agent?: AgentDefinition
    readonly store?: Store
    readonly port?: number
    readonly endpoints: readonly Endpoint[]
  },
): Promise<Desk> {
  const files = await frontEndFiles(page)
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const runtime = await createRuntime({ store })
  const desk = await runtime.serve({ server, definitions: [agent], endpoints })
  server.on('request', (request, response) => {
    if (desk.handle(request, response)) return undefined
    const name = new URL(request.url ?? '', 'http://localhost').pathname.slice(1)
    const file = files.get(name)
    if (file === undefined) return void response.setHeader('content-type', 'text/html').end(html)
    return void response.setHeader('content-type', name.endsWith('.css') ? 'text/css' : 'text/javascript').end(file)
  })
  const kill = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await runtime.close().catch(() => {})
  }
  cleanup(kill)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, runtime, store, kill }
}

const html =
  '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"><body><script type="module" src="/page.js"></script>'

/** A page with a chat, as a person uses it. */
export class ChatPage {
  readonly #page: Page
  /** Where a person writes. */
  readonly box: Locator

  constructor(page: Page, box = page.getByTestId('copilot-chat-textarea')) {
    this.#page = page
    this.box = box
  }

  async reload(): Promise<void> {
    await this.#page.reload()
  }

  async open(url: string, query: Readonly<Record<string, string>>): Promise<void> {
    await this.#page.goto(`${url}/?${new URLSearchParams(query).toString()}`)
    await this.box.waitFor()
  }

  async say(text: string): Promise<void> {
    await this.box.fill(text)
    // A front end that has not reached its endpoint yet takes nothing, and leaves the text where it is.
    for (let tries = 0; tries < 30 && (await this.box.inputValue()) === text; tries += 1) {
      await this.box.press('Enter')
      await this.#page.waitForTimeout(tries === 0 ? 50 : 1_000)
    }
  }

  async click(name: string): Promise<void> {
    await this.#page.getByRole('button', { name, exact: true }).first().click()
  }

  /** Waits until a text is somewhere in the page. */
  async sees(text: string | RegExp): Promise<void> {
    await this.#page.getByText(text).first().waitFor()
  }

  /** All that was said and answered, in order. */
  async said(): Promise<string[]> {
    const messages = this.#page.locator('[data-testid$=user-message],[data-testid$=assistant-message]')
    return (await messages.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
  }
}

/** Talks, and checks that the page shows the same after a reload, also in the middle of an answer: that to "hold", `It is done.`, held after `It is `. */
export async function talkAcrossReloads(chat: ChatPage, held: ReturnType<typeof heldReply>): Promise<void> {
  await chat.say('hello')
  await chat.sees('You said: hello.')
  await chat.say('hold')
  await chat.sees('It is')
  await chat.reload()
  await chat.sees('It is')
  held.release()
  await chat.sees('It is done.')
  const said = ['hello', 'You said: hello.', 'hold', 'It is done.']
  assert.equal(await chat.said(), said)
  await chat.reload()
  await chat.sees('It is done.')
  assert.equal(await chat.said(), said)
}
