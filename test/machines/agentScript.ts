import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type {
  BrakeCall,
  CallOutput,
  CallVerdict,
  HookOutput,
  ReplyOutput,
  SettleOutput,
  TakenTools,
  TurnDecision,
} from '../../src/machines/effectTypes.ts'
import type { CompactOutput, FoldOutput, StallCheck } from '../../src/machines/drainTypes.ts'
import type { StallOutcome } from '../../src/protocol/braking.ts'
import { noUsage, type Block, type PlainBlock, type Usage } from '../../src/protocol/messages.ts'
import type { ModelErrorKind, ReplyStopReason } from '../../src/protocol/ports/model.ts'
import type { ErrorInfo } from '../../src/protocol/errors.ts'
import type { Overlay } from '../../src/protocol/records.ts'
import type { Limits } from '../../src/protocol/runs/runLimits.ts'
import type { TurnUse } from '../../src/protocol/bridge/turns.ts'
import { consulted } from './consultations.ts'
import { type Child, type ChildOf, MachineDriver, type MachineOptions } from '../support/machineDriver.ts'
import { drained } from './drained.ts'

export const text = (value: string): PlainBlock[] => [{ type: 'text', text: value }]
export const diskFull: ErrorInfo = { code: 'STORE_APPEND_FAILED', message: 'the disk is full' }

export interface ScriptedCall {
  readonly callId: string
  /** Default `tool`; a name in `policy.agents` is a sub-agent's. */
  readonly name?: string
  readonly held?: boolean
  readonly input?: unknown
}

export interface ScriptedReply {
  readonly text?: string
  readonly calls?: readonly (string | ScriptedCall)[]
  readonly stopReason?: ReplyStopReason
  readonly usage?: Partial<Usage>
  readonly costUsd?: number
  readonly contextTokens?: number
  readonly foldAt?: number
}

/** The output of `streamReply` for a reply that came. */
export function replied(child: ChildOf<'streamReply'>, reply: ScriptedReply, at: number): ReplyOutput {
  const calls = (reply.calls ?? []).map((call) => (typeof call === 'string' ? { callId: call } : call))
  const content: Block[] = reply.text === undefined && calls.length > 0 ? [] : text(reply.text ?? 'ok')
  for (const { callId, name = 'tool', input } of calls)
    content.push({ type: 'toolCall', callId, name, input: input ?? {} })
  return {
    key: child.input.key,
    ok: true,
    message: {
      role: 'assistant',
      content,
      stopReason: reply.stopReason ?? (calls.length > 0 ? 'toolUse' : 'stop'),
      usage: { ...noUsage, ...reply.usage },
      model: 'test:model',
    },
    calls: calls.map(({ callId, name = 'tool', input, held }) => ({
      callId,
      name,
      input: input ?? {},
      needsApproval: held === true,
    })),
    costUsd: reply.costUsd ?? 0,
    estimatedTokens: 0,
    contextTokens: reply.contextTokens ?? 0,
    ...(reply.foldAt === undefined ? {} : { foldAt: reply.foldAt }),
    at,
  }
}

export const refused = (
  child: ChildOf<'streamReply'>,
  kind: ModelErrorKind,
  at: number,
  retryAfterMs?: number,
): ReplyOutput => ({
  key: child.input.key,
  ok: false,
  failure: {
    kind,
    error: { code: 'MODEL_FAILED', message: `failed: ${kind}` },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
  at,
  jitter: 1,
})

export const called = (
  child: ChildOf<'runTool'> | ChildOf<'subAgent'>,
  result: Partial<CallOutput> & { at: number },
): CallOutput => ({
  key: child.input.key,
  content: text(`result of ${child.input.callId}`),
  isError: false,
  tokens: 0,
  ...result,
})

/** Output of `askHook`. */
export const hookAsked = (child: ChildOf<'askHook'>, verdict: CallVerdict, at: number): HookOutput => ({
  key: child.input.key,
  verdict,
  tokens: verdict.type === 'answered' ? 7 : 0,
  at,
})

export const compacted = (
  child: ChildOf<'compactTrunk'>,
  result: Partial<CompactOutput> & { at: number },
): CompactOutput => ({
  key: child.input.key,
  overlay: null,
  reason: result.overlay == null ? 'nothing to gain' : null,
  tokensBefore: 0,
  tokensAfter: 0,
  usage: null,
  costUsd: 0,
  ...result,
})

/** Output of a fold that hides these steps. */
export const folded = ({ input: { key } }: ChildOf<'drainFold'>, at: number, steps: readonly number[]): FoldOutput => ({
  key,
  outcome:
    steps.length === 0
      ? null
      : { id: key, applied: true, by: 'runtime', steps, tokens: 1, memo: steps.map((id) => `n${id}`).join('\n') },
  contextTokens: 0,
  at,
})

/** Output of a look for a stall: nothing, or one that ends with this step. */
export const checked = (
  { input: { key, revertId } }: ChildOf<'drainStall'>,
  at: number,
  stall?: { readonly step: number; readonly rung: StallOutcome['rung']; readonly count?: number },
): StallCheck => {
  if (stall === undefined) return { key, stall: null, noteTokens: 0, at }
  const { step, rung, count = 1 } = stall
  const found = { rule: 'repeat', first: step, target: 1, steps: [step], evidence: 'the same again' } as const
  const revert = { id: revertId, by: 'runtime', category: 'failure', step: 'n1', summary: found.evidence } as const
  return {
    key,
    stall: { ...found, count, rung, ...(rung === 'note' ? { note: 'you go in circles' } : {}) },
    ...(rung === 'revert' ? { revert } : {}),
    noteTokens: rung === 'note' ? 10 : 0,
    at,
  }
}

export const askRevert: BrakeCall = { type: 'revert', category: 'failure', step: 'n1', summary: 'it does not work' }
export const askGraft: BrakeCall = { type: 'graft', steps: ['n2'] }
export const askPrune: BrakeCall = { type: 'prune', steps: ['n2'] }

/** The overlay that hides every node from `from` to `to`; user messages in it are not kept. */
export const overlayOver = (from: number, to: number, kept: readonly number[] = []): Omit<Overlay, 'nodeId'> => ({
  from,
  to,
  summary: 'what happened',
  kept,
  recentTo: to,
  maxToolOutputChars: 100,
})

/** Tells the story of one agent in short words, over the pure driver. */
export class AgentScript {
  readonly driver: MachineDriver
  #said = 0

  constructor(policy: Partial<AgentPolicy> = {}, options: Omit<MachineOptions, 'policy'> = {}) {
    this.driver = new MachineDriver({ policy, ...options })
  }

  get state(): string {
    return this.driver.state
  }

  get context() {
    return this.driver.context
  }

  /** Types of the records since `since`, oldest first. */
  types(since = 0): string[] {
    return this.driver.records.slice(since).map((record) => record.type)
  }

  /** Names and ids of the effects under way. */
  get underway(): string[] {
    return [...this.driver.children.values()].map((child) =>
      'callId' in child.input && child.input.callId !== null
        ? child.input.callId
        : child.src === 'sleep'
          ? child.id
          : child.src,
    )
  }

  prompt(words: string, options: { limits?: Limits; interrupt?: true } = {}): void {
    this.driver.send({ type: 'prompt', ...this.#say(words), ...options })
  }

  steer(words: string): void {
    this.driver.send({ type: 'steer', ...this.#say(words) })
  }

  followUp(words: string): void {
    this.driver.send({ type: 'followUp', ...this.#say(words) })
  }

  abort(): void {
    this.driver.send({ type: 'abort' })
  }

  stop(): void {
    this.driver.send({ type: 'stop' })
  }

  resume(limits?: Limits): void {
    this.driver.send({
      type: 'resume',
      id: `r${this.#said++}`,
      at: this.driver.now,
      ...(limits === undefined ? {} : { limits }),
    })
  }

  approve(callId: string): void {
    this.driver.send({ type: 'decide', callId, decision: 'approve', at: this.driver.now })
  }

  deny(callId: string, reason?: string): void {
    const why = reason === undefined ? {} : { reason }
    this.driver.send({ type: 'decide', callId, decision: 'deny', at: this.driver.now, ...why })
  }

  /** A person asks for a revert. */
  revert(step: string): void {
    this.#said += 1
    const request = { id: `v${this.#said}`, by: 'person', category: 'failure', step } as const
    this.driver.send({ type: 'revert', request, at: this.driver.now })
  }

  /** A person asks for a prune. */
  prune(step: string): void {
    this.#said += 1
    const request = { id: `p${this.#said}`, by: 'person', steps: [step] } as const
    this.driver.send({ type: 'prune', request, at: this.driver.now })
  }

  /** A person asks for abandoned steps. */
  graft(...steps: string[]): void {
    this.#said += 1
    this.driver.send({ type: 'graft', request: { id: `g${this.#said}`, by: 'person', steps }, at: this.driver.now })
  }

  /** A person pins a step. */
  pin(step: string, pinned = true): void {
    this.#said += 1
    const request = { id: `i${this.#said}`, by: 'person', step, pinned } as const
    this.driver.send({ type: 'pin', request, at: this.driver.now })
  }

  /** A person asks for a compaction. */
  askCompaction(focus?: string): void {
    this.#said += 1
    const request = { id: `k${this.#said}`, by: 'person', ...(focus === undefined ? {} : { focus }) } as const
    this.driver.send({ type: 'compact', request, at: this.driver.now })
  }

  failStore(): void {
    this.driver.send({ type: 'store.failed', error: diskFull })
  }

  /** Code has decided what the turn is asked with, or failed with a message. */
  prepare(came: Partial<TurnDecision> | string = {}, tools: { readonly tools?: TakenTools } = {}): void {
    const child = this.driver.child('prepareTurn')
    const ended = { key: child.input.key, at: this.driver.now, ...tools }
    if (typeof came !== 'string') this.driver.finish(child, { ...ended, ok: true, decision: { by: [], ...came } })
    else this.driver.finish(child, { ...ended, ok: false, error: { code: 'HOOK_FAILED', message: came } })
  }

  use(use: TurnUse | null): void {
    this.driver.send({ type: 'use', id: `u${this.#said++}`, use, at: this.driver.now })
  }

  firstToken(): void {
    this.driver.send({ type: 'reply.started', key: this.driver.child('streamReply').input.key })
  }

  reply(reply: ScriptedReply = {}): void {
    const child = this.driver.child('streamReply')
    this.driver.finish(child, replied(child, reply, this.driver.now))
  }

  failReply(kind: ModelErrorKind, retryAfterMs?: number): void {
    const child = this.driver.child('streamReply')
    this.driver.finish(child, refused(child, kind, this.driver.now, retryAfterMs))
  }

  /** `beforeTool` decides about a call. */
  rule(callId: string, verdict: CallVerdict): void {
    const child = [...this.driver.children.values()].find(
      ({ src, input }) => src === 'askHook' && input.callId === callId,
    )
    if (child?.src !== 'askHook') throw new Error(`beforeTool is not asked about ${callId}`)
    this.driver.finish(child, hookAsked(child, verdict, this.driver.now))
  }

  /** Code gives the agent a child that works beside it. */
  spawn(childId: string): void {
    this.driver.send({ type: 'spawn', childId, name: 'helper', at: this.driver.now })
  }

  /** The child that code gave ends. */
  endChild(childId: string, result: Partial<CallOutput> = {}): void {
    const children = [...this.driver.children.values()]
    const child = children.find((one) => one.src === 'subAgent' && one.input.childId === childId)
    if (child?.src !== 'subAgent') throw new Error(`child ${childId} is not under way`)
    this.driver.finish(child, called(child, { at: this.driver.now, ...result }))
  }

  call(callId: string): ChildOf<'runTool'> | ChildOf<'subAgent'> {
    const children = [...this.driver.children.values()]
    const found = children.find(
      (child): child is ChildOf<'runTool'> | ChildOf<'subAgent'> =>
        (child.src === 'runTool' || child.src === 'subAgent') && child.input.callId === callId,
    )
    if (found === undefined) throw new Error(`call ${callId} is not running`)
    return found
  }

  finishCall(callId: string, result: Partial<CallOutput> = {}): void {
    const child = this.call(callId)
    this.driver.finish(child, called(child, { at: this.driver.now, ...result }))
  }

  /** Ends the sleep of this id, at the time it was to end. */
  wake(id: 'backoff' | 'deadline'): void {
    const child = this.driver.child('sleep', id)
    this.driver.now = Math.max(this.driver.now, child.input.until)
    this.driver.finish(child, child.input)
  }

  settle(partial: SettleOutput['partial'] = null): void {
    const child = this.driver.child('settle')
    this.driver.finish(child, { key: child.input.key, at: this.driver.now, partial })
  }

  compact(result: Partial<CompactOutput> = {}): void {
    const child = this.driver.child('compactTrunk')
    this.driver.finish(child, compacted(child, { at: this.driver.now, ...result }))
  }

  drain(src: 'drainReverts' | 'drainGrafts' | 'drainPrunes' | 'drainPins'): void {
    const child = this.driver.child(src)
    this.driver.finish(child, drained(child, this.driver.now))
  }

  fold(...steps: number[]): void {
    const child = this.driver.child('drainFold')
    this.driver.finish(child, folded(child, this.driver.now, steps))
  }

  check(stall?: Parameters<typeof checked>[2]): void {
    const child = this.driver.child('drainStall')
    this.driver.finish(child, checked(child, this.driver.now, stall))
  }

  /** A policy fires, in the consultation under way. */
  fire(policy = 'tidy'): void {
    const { input } = this.driver.child('consultPolicies')
    const requestId = input.request === undefined ? {} : { requestId: input.request.id }
    const start = { policy, why: 'it is due', turn: input.turn, tokens: 100, ...requestId }
    this.driver.send({ type: 'policy.fired', key: input.key, start, at: this.driver.now })
  }

  consult(fired?: Parameters<typeof consulted>[2]): void {
    const child = this.driver.child('consultPolicies')
    if (fired !== undefined) this.fire(fired.policy)
    this.driver.finish(child, consulted(child, this.driver.now, fired))
  }

  brake(policy = 'tidy'): void {
    const request = { id: `b${this.driver.steps.length}`, by: 'person', policy } as const
    this.driver.send({ type: 'brake', request, at: this.driver.now })
  }

  crash(src: Child['src'], message = 'it broke'): void {
    this.driver.crash(this.driver.child(src), message)
  }

  #say(words: string) {
    this.#said += 1
    return { id: `q${this.#said}`, content: text(words), at: this.driver.now }
  }
}
