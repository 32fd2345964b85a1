import { type Block, textOf, toolCallsOf } from '../../../../src/protocol/messages.ts'
import { judgeReply, type ReplyVerdict } from '../../../../src/protocol/checks/judgeReply.ts'
import type { Model, ModelPart, ModelReply, ModelRequest } from '../../../../src/protocol/ports/model.ts'

/** Reply that a model under test should give: thinking, then text, then tool calls; the last two fields only with `ends`. */
export interface ContractReply {
  readonly thinking?: string
  readonly text?: string
  readonly toolCalls?: readonly { readonly name: string; readonly input: unknown; readonly callId?: string }[]
  readonly stopReason?: ModelReply['stopReason']
  /** The provider's own stop reason, as it comes over the wire. */
  readonly endReason?: string
}

/** A feature of a reply's end or its call ids that not every provider has. */
export type ContractEnd = 'cut' | 'refused' | 'windowFull' | 'paused' | 'broken' | 'sameIds' | 'noIds'

/** One guarantee of a model, as a case for any test runner. */
export interface ModelContractCase {
  readonly name: string
  /** Rejects with a readable error if the guarantee is broken. */
  run(): Promise<void>
}

export interface ModelContractOptions {
  /** Makes a model that gives these replies, one per call, in order. Called once per case. */
  create(replies: readonly ContractReply[]): Promise<Model> | Model
  /** Kinds of ends that the provider's replies may have, with a case for each; replies mark them by `stopReason`, `endReason` and `callId`. */
  readonly ends?: readonly ContractEnd[]
}

const request: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
  tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }],
  settings: {},
}
const everything: ContractReply = {
  thinking: 'Let me think.',
  text: 'Here you are.',
  toolCalls: [
    { name: 'add', input: { a: 1 } },
    { name: 'add', input: { a: 2, list: ['ä', null] } },
  ],
}

type Check = (create: ModelContractOptions['create']) => Promise<void>

const checks: { readonly [name: string]: (create: ModelContractOptions['create']) => Promise<void> } = {
  'has an id': async (create) => {
    demand((await create([])).id !== '', 'the id is empty')
  },
  'ends with one done part and nothing after it': async (create) => {
    const parts = await partsOf(await create([everything]))
    demand(parts.at(-1)?.type === 'done', `the last part is ${show(parts.at(-1))}`)
    demandEqual(parts.filter(isTerminal).length, 1, 'terminal parts')
  },
  'says in deltas what the reply holds': async (create) => {
    const parts = await partsOf(await create([everything]))
    const { content } = replyIn(parts)
    demandEqual(joined(parts, 'text.delta'), textOf(content), 'the text of the deltas')
    demandEqual(textOf(content), everything.text, 'the text of the reply')
    demandEqual(joined(parts, 'thinking.delta'), thinkingOf(content), 'the thinking of the deltas')
    demandEqual(thinkingOf(content), everything.thinking, 'the thinking of the reply')
  },
  'announces each tool call by its own id and name before its input': async (create) => {
    const parts = await partsOf(await create([everything]))
    const calls = toolCallsOf(replyIn(parts).content)
    demandEqual(new Set(calls.map((call) => call.callId)).size, 2, 'different call ids')
    for (const call of calls) {
      const deltas = parts
        .filter((part) => part.type === 'toolCall.delta')
        .filter((part) => part.callId === call.callId)
      demandEqual(deltas[0]?.name, call.name, 'the name in the first delta of a call')
      demandEqual(
        JSON.parse(deltas.map((delta) => delta.text).join('')),
        call.input,
        'the input in the deltas of a call',
      )
    }
  },
  'keeps tool calls in source order with parsed input': async (create) => {
    const { content, stopReason } = replyIn(await partsOf(await create([everything])))
    demandEqual(
      toolCallsOf(content).map(({ name, input }) => ({ name, input })),
      everything.toolCalls,
      'the tool calls',
    )
    demandEqual(stopReason, 'toolUse', 'the stop reason')
  },
  'stops without tool calls and counts its tokens': async (create) => {
    const { stopReason, usage } = replyIn(await partsOf(await create([{ text: 'Done.' }])))
    demandEqual(stopReason, 'stop', 'the stop reason')
    for (const [name, tokens] of Object.entries(usage)) demand(Number(tokens) >= 0, `usage.${name} is ${tokens}`)
  },
  'makes nothing up where the provider says nothing': async (create) => {
    demandEqual(verdictOf(await partsOf(await create([{}]))), 'empty', 'what a reply without content is taken for')
  },
  'answers one call after another': async (create) => {
    const model = await create([{ text: 'one' }, { text: 'two' }])
    demandEqual(textOf(replyIn(await partsOf(model)).content), 'one', 'the first text')
    demandEqual(textOf(replyIn(await partsOf(model)).content), 'two', 'the second text')
  },
  'is silent when the signal is aborted before the call': async (create) => {
    const parts = await partsOf(await create([everything]), AbortSignal.abort(new Error('too late')))
    demand(!parts.some((part) => part.type === 'done'), 'it gave a reply')
  },
  'ends soon after an abort in the middle': async (create) => {
    const abort = new AbortController()
    const parts = (await create([everything])).stream(request, { signal: abort.signal })[Symbol.asyncIterator]()
    await parts.next()
    abort.abort(new Error('enough'))
    while ((await parts.next()).done !== true);
  },
  'can be left in the middle': async (create) => {
    for await (const part of (await create([everything])).stream(request, { signal: new AbortController().signal })) {
      demand(!isTerminal(part), 'the first part is terminal')
      break
    }
  },
}

/**
 * The contract of `Model` as cases for any test runner: `for (const { name, run } of modelContract({ create })) it(name, run)`.
 * Cases are independent.
 */
export const modelContract = ({ create, ends = [] }: ModelContractOptions): readonly ModelContractCase[] =>
  [...Object.entries(checks), ...ends.map((end) => endChecks[end])].map(([name, check]) => ({
    name,
    run: () => check(create),
  }))

/** Returns a case in which a reply ends in this way and gets the expected verdict. */
const endsAs =
  (verdict: ReplyVerdict, reply: ContractReply): Check =>
  async (create) => {
    const parts = await partsOf(await create([{ text: 'The answer is fort', ...reply }]))
    demandEqual(verdictOf(parts), verdict, 'what the reply is taken for')
  }

const keepsBoth =
  (callId: string): Check =>
  async (create) => {
    const toolCalls = [1, 2].map((a) => ({ name: 'add', input: { a }, callId }))
    const { content } = replyIn(await partsOf(await create([{ toolCalls }])))
    demandEqual(
      toolCallsOf(content).map(({ input }) => input),
      [{ a: 1 }, { a: 2 }],
      'the inputs of the calls',
    )
  }

const { toolCalls = [] } = everything

const endChecks: { readonly [E in ContractEnd]: readonly [name: string, check: Check] } = {
  cut: ['says that a reply was cut off, also in its calls', endsAs('cut', { toolCalls, stopReason: 'length' })],
  refused: ['says that a reply is a refusal, also with calls', endsAs('refused', { toolCalls, stopReason: 'refusal' })],
  windowFull: [
    'takes a full window for an overflow',
    endsAs('windowFull', { stopReason: 'length', endReason: 'model_context_window_exceeded' }),
  ],
  paused: ['says that the provider pauses', endsAs('paused', { stopReason: 'stop', endReason: 'pause_turn' })],
  broken: [
    'takes an end for a failure that is no end of a whole reply',
    endsAs('broken', { stopReason: 'other', endReason: 'insufficient_system_resource' }),
  ],
  sameIds: ['keeps two calls of the same id', keepsBoth('same')],
  noIds: ['keeps two calls without an id', keepsBoth('')],
}

/** Returns the runtime's verdict on a reply. */
function verdictOf(parts: readonly ModelPart[]): ReplyVerdict {
  const last = parts.at(-1)
  if (last?.type === 'error') return last.error.kind === 'overflow' ? 'windowFull' : 'broken'
  const reply = replyIn(parts)
  return judgeReply(reply, reply.endReason)
}

async function partsOf(model: Model, signal = new AbortController().signal): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}

const isTerminal = (part: ModelPart): boolean => part.type === 'done' || part.type === 'error'

function replyIn(parts: readonly ModelPart[]): ModelReply {
  const last = parts.at(-1)
  if (last?.type !== 'done') throw new Error(`The last part is ${show(last)}, not "done".`)
  return last.reply
}

const joined = (parts: readonly ModelPart[], type: 'text.delta' | 'thinking.delta'): string =>
  parts.map((part) => (part.type === type ? part.text : '')).join('')

const thinkingOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'thinking' ? block.text : '')).join('')

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The model breaks its contract: ${what}.`)
}

function demandEqual(actual: unknown, expected: unknown, what: string): void {
  demand(show(actual) === show(expected), `${what}: expected ${show(expected)}, got ${show(actual)}`)
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
