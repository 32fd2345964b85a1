import { denialText } from '../../src/protocol/text/denial.ts'
import { planShow } from '../../src/conversation/brakes/prune/planShow.ts'
import { applyPrune } from '../../src/conversation/brakes/prune/planPrune.ts'
import {
  applyRevert,
  brakeTools,
  defaultRevertPolicy,
  planRevert,
  refuseRevert,
  type RevertPolicy,
} from '../../src/conversation/brakes/revert/planRevert.ts'
import {
  assembleRequest,
  type AssembledRequest,
  type RequestFrame,
} from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import {
  defaultFoldPolicy,
  planAskedFold,
  planFold,
  type FoldPlan,
  type FoldPolicy,
} from '../../src/conversation/brakes/fold/planFold.ts'
import {
  defaultCompactionPolicy,
  overlayOf,
  planCompaction,
} from '../../src/conversation/brakes/compaction/planCompaction.ts'
import {
  decideStall,
  defaultStallPolicy,
  stallRevert,
  type StallPolicy,
} from '../../src/conversation/brakes/stall/decideStall.ts'
import { planGraft, type GraftSituation } from '../../src/conversation/brakes/graft/planGraft.ts'
import { decidePin } from '../../src/conversation/brakes/pins/pins.ts'
import { defaultTagPolicy, type TagPolicy } from '../../src/conversation/request/visibleTags.ts'
import type {
  GraftOutcome,
  PinOutcome,
  PinRequest,
  PruneOutcome,
  RevertCategory,
  RevertOutcome,
  RevertRequest,
  StallOutcome,
} from '../../src/protocol/braking.ts'
import { noUsage, type Block, type PlainBlock } from '../../src/protocol/messages.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'

const recallSpec = { name: 'recall', description: '', inputSchema: {} }

export interface BrakeLogOptions {
  readonly policy?: Partial<RevertPolicy>
  readonly tags?: Partial<TagPolicy>
  /** Called with every record, before it is folded in. */
  readonly before?: (record: LogRecord) => void
  /** Called after every record, once it is folded in. */
  readonly after?: () => void
}

export interface WantedCall {
  readonly name?: string
  readonly input?: unknown
  readonly output?: string | readonly PlainBlock[]
  readonly isError?: boolean
  readonly changed?: readonly string[]
  /** True if the call was started and cannot be undone. */
  readonly isIrreversible?: boolean
  /** True if the call was started and can be undone. */
  readonly isReversible?: boolean
  /** True if the call was started and waits for something. */
  readonly polls?: boolean
  /** Id of a call that works in the background; its output is the receipt. */
  readonly background?: string
  /** Set if the runtime answered the call, and not the tool. */
  readonly synthetic?: 'aborted' | 'skipped' | 'interrupted'
  /** Reason for which a person denied the call. */
  readonly denied?: string
}

export interface WantedRevert {
  readonly step: string
  readonly category?: RevertCategory
  readonly summary?: string
}

/** Every step that may be folded, folded. */
export function askedFold(conversation: Conversation, policy: FoldPolicy, id = 'f'): FoldPlan | undefined {
  const plan = planAskedFold(conversation, policy, 0, { id, by: 'person', fold: true }, new Set())
  return typeof plan === 'string' ? undefined : plan
}

/** Plans a fold of all those named steps that may be folded; older memos become shorter as they accumulate. */
function chosenFold(
  conversation: Conversation,
  policy: FoldPolicy,
  id: string,
  steps: readonly string[],
): FoldPlan | undefined {
  const request = { id, by: 'runtime', policy: 'tidy', fold: true, rollUp: true, steps } as const
  const plan = planAskedFold(conversation, policy, 0, request, new Set())
  return typeof plan === 'string' ? undefined : plan
}

/** A braked conversation made as the drains make it: every record goes through the real pure functions and is folded in at once. */
export class BrakeLog {
  readonly conversation = new Conversation()
  readonly records: LogRecord[] = []
  readonly frame: RequestFrame
  readonly policy: RevertPolicy
  turnIndex = 0
  /** The last fold, before it was applied. */
  planned: FoldPlan | undefined
  #calls = 0
  #requests = 0
  readonly #before: (record: LogRecord) => void
  readonly #after: () => void

  constructor({ policy = {}, tags = {}, before = () => {}, after = () => {} }: BrakeLogOptions = {}) {
    this.policy = { ...defaultRevertPolicy, ...policy }
    this.frame = { system: 's', tools: [recallSpec], settings: {}, braking: { ...defaultTagPolicy, ...tags } }
    this.#before = before
    this.#after = after
  }

  user(said: string | readonly PlainBlock[], source: 'prompt' | 'steering' | 'followUp' = 'prompt'): number {
    const content = typeof said === 'string' ? [{ type: 'text', text: said } as const] : said
    return this.#placed({ type: 'message.added', message: { role: 'user', content, source } })
  }

  /** A reply without calls. */
  reply(said: string): number {
    const id = this.#reply([{ type: 'text', text: said }])
    this.turnIndex += 1
    return id
  }

  /** A sealed step; results come in the order of `order`, each call's place in the list. Gives the id of its last node. */
  step(wanted: readonly WantedCall[], options: { thinking?: string; order?: readonly number[] } = {}): number {
    const calls = wanted.map((call) => ({
      name: 'tool',
      input: {},
      output: 'ok',
      ...call,
      callId: `c${this.#calls++}`,
    }))
    const thinking: Block[] =
      options.thinking === undefined ? [] : [{ type: 'thinking', text: options.thinking, signature: 'seal' }]
    const replyId = this.#reply([
      ...thinking,
      ...calls.map(({ callId, name, input }): Block => ({ type: 'toolCall', callId, name, input })),
    ])
    for (const index of options.order ?? calls.map((_, at) => at)) {
      const { callId, name, input, output, isError = false, changed = [], denied, ...marks } = calls[index]!
      const { isIrreversible, isReversible, polls, synthetic, background } = marks
      const key = `a/t${this.turnIndex}/tool/${callId}`
      const started = {
        ...(isIrreversible ? { irreversible: true } : {}),
        ...(isReversible ? { reversible: true } : {}),
        ...(polls ? { polls: true } : {}),
        ...(background === undefined ? {} : { background }),
      }
      if (isIrreversible || isReversible || polls || background !== undefined)
        this.#push({ type: 'tool.start', callId, key, name, input, ...started })
      const said = denied === undefined ? output : denialText(denied)
      this.#push({
        type: 'tool.end',
        nodeId: replyId + 1 + index,
        parentId: replyId + index,
        callId,
        key,
        name,
        message: {
          role: 'toolResult',
          callId,
          toolName: name,
          content: typeof said === 'string' ? [{ type: 'text', text: said }] : said,
          isError: isError || denied !== undefined,
          ...(denied === undefined ? {} : { synthetic: 'denied' }),
          ...(synthetic === undefined ? {} : { synthetic }),
          ...(changed.length === 0 ? {} : { changed }),
        },
      })
    }
    this.turnIndex += 1
    return replyId + calls.length
  }

  /** A call in the background has ended. */
  report(id: string, how: object = {}): void {
    this.#push({ type: 'call.reported', callId: id, key: id, id, name: 'tool', content: [], isError: false, ...how })
  }

  /** One drain: these reverts were asked for in one turn. */
  drain(...wanted: readonly WantedRevert[]): RevertOutcome[] {
    const requests = wanted.map(({ category = 'failure', ...rest }): RevertRequest => ({
      id: `r${this.#requests++}`,
      by: 'model',
      category,
      ...rest,
    }))
    for (const request of requests) this.#push({ type: 'revert.requested', request })
    return this.#decide(requests)
  }

  #decide(requests: readonly RevertRequest[]): RevertOutcome[] {
    let newHead: ConversationNode | undefined
    const outcomes = requests.map((request) => {
      const plan = planRevert(this.conversation, request, this.policy, newHead === undefined)
      if (typeof plan === 'string') return refuseRevert(request, plan, this.conversation, newHead)
      newHead = plan.target
      const { lastNodeId } = this.conversation
      return applyRevert(
        request,
        plan,
        { text: request.summary ?? '' },
        { turnIndex: Math.max(0, this.turnIndex - 1), lastNodeId },
      )
    })
    for (const outcome of outcomes) this.#push({ type: 'revert.applied', ...outcome })
    return outcomes
  }

  /** A drain of one revert. */
  revert(step: string | number, summary = 'a lesson', category: RevertCategory = 'failure'): RevertOutcome {
    return this.drain({ step: String(step), summary, category })[0]!
  }

  /** One drain: each of these lists of steps was asked for on its own. */
  grafts(
    wanted: readonly (readonly string[])[],
    situation: Partial<GraftSituation> = {},
    by: 'model' | 'person' = 'model',
  ): GraftOutcome[] {
    const requests = wanted.map((steps) => ({ id: `g${this.#requests++}`, by, steps }) as const)
    for (const request of requests) this.#push({ type: 'graft.requested', request })
    const taken = new Map<number, number>()
    let { lastNodeId } = this.conversation
    const outcomes = requests.map((request) => {
      const usual = { asking: brakeTools, canRecall: true, room: Infinity }
      const { outcome, steps } = planGraft(this.conversation, request, { ...usual, ...situation, lastNodeId, taken })
      for (const [step, copy] of steps) taken.set(step, copy)
      lastNodeId = outcome.copies.at(-1)?.nodeId ?? lastNodeId
      return outcome
    })
    for (const outcome of outcomes) this.#push({ type: 'graft.applied', ...outcome })
    return outcomes
  }

  /** A drain of one graft. */
  graft(...steps: readonly string[]): GraftOutcome {
    return this.grafts([steps])[0]!
  }

  prune(wanted: { steps?: readonly string[]; tokens?: number; memo?: string; mask?: true }): PruneOutcome {
    const request = { id: `p${this.#requests++}`, by: 'model', ...wanted } as const
    this.#push({ type: 'prune.requested', request })
    const outcome = applyPrune(this.conversation, request)
    this.#push({ type: 'prune.applied', ...outcome })
    return outcome
  }

  show(...steps: readonly string[]): PruneOutcome {
    const request = { id: `h${this.#requests++}`, by: 'model', steps, show: true } as const
    this.#push({ type: 'prune.requested', request })
    const { outcome } = planShow(this.conversation, request, new Set(), Infinity)
    this.#push({ type: 'prune.applied', ...outcome })
    return outcome
  }

  /** Outcome of a drain that looks for a loop; `undefined` if there is none. `waiting`: reverts that the model has asked for. */
  stall(policy: Partial<StallPolicy> = {}, waiting: readonly RevertRequest[] = []): StallOutcome | undefined {
    const revertId = `a/stall/n${this.conversation.lastNodeId}`
    const stall = decideStall(
      this.conversation,
      { ...defaultStallPolicy, ...policy },
      { revertId, reverts: this.policy, waiting, offersRevert: true },
    )
    if (stall === undefined) return undefined
    const request = stall.rung === 'revert' ? stallRevert(revertId, stall) : undefined
    if (request !== undefined) this.#push({ type: 'revert.requested', request })
    this.#push({ type: 'stall.detected', ...stall })
    if (request !== undefined) this.#decide([request])
    return stall
  }

  /** The pause that a stall led to. */
  pause({ rule, first, target, evidence }: StallOutcome): void {
    const reason = { type: 'stall', rule, first, target, evidence }
    this.#push({ type: 'run.end', stopReason: 'paused', turns: 1, usage: noUsage, costUsd: 0, reason })
  }

  pin(step: string | number, pinned = true, by: PinRequest['by'] = 'person'): PinOutcome {
    const request = { id: `i${this.#requests++}`, by, step: String(step), pinned } as const
    this.#push({ type: 'pin.requested', request })
    const outcome = decidePin(this.conversation, request)
    this.#push({ type: 'pin.applied', ...outcome })
    return outcome
  }

  /** A drain that folds, if it is due or asked for; small numbers by default, so that short logs fold. */
  /** `chosen`: the steps that a policy names. */
  fold(policy: Partial<FoldPolicy> = {}, isAsked = false, chosen?: readonly string[]): FoldPlan | undefined {
    const small = { work: 50, minBatch: 40, keepSteps: 1, indexTokens: 30, cap: 2_000 }
    const id = `f${this.#requests++}`
    const levels = { ...defaultFoldPolicy, leastRequests: 0, ...small, ...policy }
    const plan =
      chosen !== undefined
        ? chosenFold(this.conversation, levels, id, chosen)
        : isAsked
          ? askedFold(this.conversation, levels, id)
          : planFold(this.conversation, levels, 0, id)
    this.planned = plan
    if (plan === undefined) return undefined
    // A model that asked would be told what was refused.
    if (chosen !== undefined) this.#push({ type: 'prune.requested', request: { id, by: 'runtime', steps: chosen } })
    this.#push({ type: 'prune.applied', ...plan.outcome })
    return plan
  }

  /** Gives the summary's id; `undefined` when there is nothing to compact. */
  compact(options: { first?: number; recent?: number; summary?: string; maxChars?: number } = {}): number | undefined {
    const { first = 1, recent = 1, summary = 'what happened', maxChars = 100 } = options
    const policy = {
      ...defaultCompactionPolicy,
      keepFirst: first,
      keepRecent: recent,
      maxToolOutputChars: maxChars,
      minShrink: -Infinity,
    }
    const plan = planCompaction(this.conversation, policy, 0)
    if (typeof plan === 'string') return undefined
    const nodeId = this.conversation.lastNodeId + 1
    const overlay = overlayOf(plan, nodeId, summary, policy)
    this.#push({ type: 'compaction.end', applied: true, overlay, tokensBefore: 0, tokensAfter: 0, costUsd: 0 })
    return nodeId
  }

  /** The request of the turn to come. */
  assemble(turnIndex = this.turnIndex): AssembledRequest {
    return assembleRequest(this.conversation, this.frame, turnIndex)
  }

  trunkIds(): number[] {
    return this.conversation.trunk().map(({ id }) => id)
  }

  #reply(content: readonly Block[]): number {
    const hasCalls = content.some(({ type }) => type === 'toolCall')
    return this.#placed({
      type: 'reply.end',
      costUsd: 0,
      estimatedTokens: 0,
      message: {
        role: 'assistant',
        content,
        stopReason: hasCalls ? 'toolUse' : 'stop',
        usage: noUsage,
        model: 'test:model',
      },
    })
  }

  #placed(body: object): number {
    const nodeId = this.conversation.lastNodeId + 1
    this.#push({ ...body, nodeId, parentId: this.conversation.head })
    return nodeId
  }

  #push(body: object): void {
    const seq = this.records.length + 1
    const record = { v: 3, seq, time: seq, runId: 'a/r0', turnIndex: this.turnIndex, ...body } as LogRecord
    this.#before(record)
    this.conversation.apply(record)
    this.records.push(record)
    this.#after()
  }
}

/** Everything the model reads in a request's messages. */
export const textIn = (messages: readonly RequestMessage[]): string =>
  messages.flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : ''))).join('\n\n')

/** The brake notes of a request, in order. */
export const notesIn = (messages: readonly RequestMessage[]): string[] =>
  [...textIn(messages).matchAll(/<brake-note [\s\S]*?<\/brake-note>/g)].map(([note]) => note)

/** The ids a request shows, in order. */
export const idsIn = (messages: readonly RequestMessage[]): string[] =>
  [...textIn(messages.filter(({ role }) => role !== 'assistant')).matchAll(/^\[(n\d+)\]$/gm)].map(([, id]) => id!)
