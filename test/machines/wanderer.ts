import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { CallVerdict, PrepareOutput, TakenTools, ReplyOutput } from '../../src/machines/effectTypes.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type { CompactOutput, ConsultOutput } from '../../src/machines/drainTypes.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { Limits } from '../../src/protocol/runs/runLimits.ts'
import { waitsForPeople } from '../../src/machines/callFacts.ts'
import type { Move, Outcome } from '../support/arbitraries.ts'
import { type Child, type ChildOf, MachineDriver } from '../support/machineDriver.ts'
import {
  hookAsked,
  askPrune,
  askRevert,
  called,
  compacted,
  diskFull,
  checked,
  folded,
  overlayOver,
  refused,
  replied,
  text,
} from './agentScript.ts'
import { drained } from './drained.ts'
import { consulted } from './consultations.ts'
import { guarded } from './guardedReplies.ts'

export type Channel = 'prompt' | 'interrupt' | 'steer' | 'followUp'

export interface Said {
  readonly id: string
  readonly channel: Channel
  readonly words: string
}

/** Verdict of `beforeTool`; the outcome of an effect says which. */
function verdictFor({ isError, isKept, tokens }: Outcome): CallVerdict {
  if (isError) return isKept ? { type: 'denied', reason: 'no.' } : { type: 'failed', error: diskFull }
  if (tokens % 3 === 1) return { type: 'answered', content: text('known') }
  const needsApproval = tokens % 5 === 2
  return isKept ? { type: 'edited', input: { edited: true }, needsApproval } : { type: 'allowed', needsApproval }
}

const benign: Outcome = {
  calls: [],
  failure: null,
  retryAfterMs: null,
  isError: false,
  notStarted: false,
  isKept: false,
  brake: null,
  tokens: 0,
}

/** Data of some results, and of others the end of the run, which a failed call could have been. */
const given = ({ tokens, isError }: Pick<Outcome, 'tokens' | 'isError'>) => ({
  ...(tokens === 10 && !isError ? { data: { tokens } } : {}),
  ...(tokens === 200 ? { endsRun: !isError } : {}),
})

const toolOnly = ({ brake, notStarted, ...outcome }: Outcome) => ({
  ...(notStarted ? {} : given(outcome)),
  ...(brake === null ? {} : { brake: brake === 'revert' ? askRevert : askPrune }),
  ...(notStarted ? { notStarted: diskFull, content: [] } : {}),
})

const childOnly = ({ tokens, isError }: Outcome) => ({
  spent: { usage: { ...noUsage, output: tokens }, costUsd: 0.002, turns: 1 },
  ...(isError ? { isOverAllowance: true } : {}),
})

/** Takes an agent down a random road of moves, and remembers everything people said to it. */
export class Wanderer {
  readonly driver: MachineDriver
  readonly said: Said[] = []

  constructor(policy: Partial<AgentPolicy>) {
    this.driver = new MachineDriver({ policy })
  }

  play(move: Move): void {
    const { driver } = this
    if (driver.status !== 'active') return
    switch (move.do) {
      case 'prompt':
      case 'interrupt':
      case 'steer':
      case 'followUp':
        return this.#say(move.do, 'limits' in move ? move.limits : null)
      case 'abort':
      case 'stop':
        return driver.send({ type: move.do })
      case 'failStore':
        return driver.send({ type: 'store.failed', error: diskFull })
      case 'firstToken': {
        const reply = this.#underway.find((child) => child.src === 'streamReply')
        return driver.send({ type: 'reply.started', key: reply?.input.key ?? 'a/t0/reply/1' })
      }
      case 'revert': {
        const request = { id: `v${driver.steps.length}`, by: 'person', category: 'failure', step: 'n1' } as const
        return driver.send({ type: 'revert', request, at: driver.now })
      }
      case 'graft': {
        const request = { id: `g${driver.steps.length}`, by: 'person', steps: ['n1'] } as const
        return driver.send({ type: 'graft', request, at: driver.now })
      }
      case 'pin': {
        const request = { id: `i${driver.steps.length}`, by: 'person', step: 'n1', pinned: true } as const
        return driver.send({ type: 'pin', request, at: driver.now })
      }
      case 'prune': {
        const mask = driver.steps.length % 3 === 0 ? ({ mask: true } as const) : {}
        const request = { id: `p${driver.steps.length}`, by: 'person', tokens: 9, ...mask } as const
        return driver.send({ type: 'prune', request, at: driver.now })
      }
      case 'compact':
        return driver.send({
          type: 'compact',
          request: { id: `k${driver.steps.length}`, by: 'person' },
          at: driver.now,
        })
      case 'brake': {
        const request = { id: `b${driver.steps.length}`, by: 'person', policy: 'tidy' } as const
        return driver.send({ type: 'brake', request, at: driver.now })
      }
      case 'use': {
        const nth = driver.steps.length
        const use = (
          [null, { tools: [] }, { tools: ['tool'], model: { id: 'm' } }, { instructions: `${nth}` }] as const
        )[nth % 4]!
        return driver.send({ type: 'use', id: `u${nth}`, use, at: driver.now })
      }
      case 'spawn':
        return driver.send({ type: 'spawn', childId: `a.s${driver.steps.length}`, name: 'helper', at: driver.now })
      case 'resume':
        return driver.send({
          type: 'resume',
          id: `r${driver.steps.length}`,
          at: driver.now,
          ...(move.limits === null ? {} : { limits: move.limits }),
        })
      case 'ask': {
        const running = this.#underway.findLast((child) => child.src === 'runTool')
        const key = running?.src === 'runTool' ? running.input.key : 'a/t0/tool/unheard-of'
        const question = { key: `${key}/q${driver.steps.length}`, question: 'Which?', schema: {} }
        return driver.send({ type: 'ask', key, question, at: driver.now })
      }
      case 'decide': {
        const waiting = driver.context.calls.filter(waitsForPeople)
        const call = move.pick === 0 ? undefined : waiting[move.pick % Math.max(1, waiting.length)]
        const { callId } = call ?? { callId: 'unheard-of' }
        const isAnswer = call?.status === 'asking' && move.decision === 'approve'
        const decision = isAnswer ? ({ decision: 'answer', value: move.pick } as const) : { decision: move.decision }
        return driver.send({ type: 'decide', callId, ...decision, at: driver.now })
      }
      case 'tick':
        driver.now += move.ms
        return
      default:
        this.#endOne(move)
    }
  }

  /** Lets everything under way end well, until nothing is. The wall time, if any, ends last. */
  rest(): void {
    for (let left = 500; this.driver.children.size > 0; left--) {
      if (left === 0) throw new Error(`still busy in ${this.driver.state}`)
      const child = this.#underway.find(({ id }) => id !== 'deadline') ?? this.#underway[0]!
      this.driver.finish(child, this.#output(child, benign))
    }
  }

  get #underway(): Child[] {
    return [...this.driver.children.values()]
  }

  #endOne(move: Extract<Move, { readonly pick: number }>): void {
    // Nothing to end: a new prompt keeps the agent going.
    if (move.do === 'end' && this.driver.state === 'idle') return this.#say('prompt', null)
    const from = move.do === 'late' ? this.driver.stopped : this.#underway
    const child = from.at(-1 - (move.pick % Math.max(1, from.length)))
    if (child === undefined || move.do === 'decide') return
    if (move.do === 'crash') return this.driver.crash(child, 'it broke')
    if (move.do === 'end') return this.driver.finish(child, this.#output(child, move.outcome))
    // What is dropped must not even be looked at; a result that no key protects says nothing.
    const output = this.#output(child, child.src === 'settle' ? benign : move.outcome)
    if (move.do === 'late') return this.driver.finish(child, output)
    if (child.src === 'streamReply' || child.src === 'runTool') {
      const event = { type: `xstate.done.actor.${child.id}`, output: { ...(output as object), key: 'a/t99/forged' } }
      this.driver.send(event as unknown as Parameters<MachineDriver['send']>[0])
    }
  }

  #say(channel: Channel, limits: Limits | null): void {
    const { driver } = this
    const id = `q${this.said.length}`
    const words = `words ${this.said.length}`
    // Said to a run that is being aborted: it becomes the next run.
    const isLate = driver.state === 'settling' && channel !== 'interrupt'
    this.said.push({ id, channel: isLate ? 'prompt' : channel, words })
    const message = { id, content: text(words), at: driver.now }
    if (channel === 'steer' || channel === 'followUp') return driver.send({ type: channel, ...message })
    const interrupt = channel === 'interrupt' ? { interrupt: true as const } : {}
    driver.send({ type: 'prompt', ...interrupt, ...message, ...(limits === null ? {} : { limits }) })
  }

  #output(child: Child, outcome: Outcome): unknown {
    const at = this.driver.now
    switch (child.src) {
      case 'prepareTurn':
        return this.#prepared(child, outcome)
      case 'streamReply':
        return guarded(this.driver, child, this.#reply(child, outcome), outcome)
      case 'askHook':
        return hookAsked(child, verdictFor(outcome), at)
      case 'runTool':
      case 'subAgent':
        return called(child, {
          at,
          isError: outcome.isError,
          tokens: outcome.tokens,
          ...(child.src === 'runTool' ? toolOnly(outcome) : childOnly(outcome)),
        })
      case 'sleep':
        this.driver.now = Math.max(at, child.input.until)
        return child.input
      case 'settle':
        return { key: child.input.key, at, partial: this.#partial(outcome) }
      case 'compactTrunk':
        return this.#compaction(child, outcome)
      case 'drainPins':
      case 'drainReverts':
      case 'drainGrafts':
      case 'drainPrunes':
        return drained(child, at)
      case 'undoCall': {
        const { key, call } = child.input
        return { key, step: { call: call.call, undone: outcome.isKept }, at }
      }
      case 'drainFold':
        return folded(child, at, outcome.isKept ? this.#foldable() : [])
      case 'drainStall':
        return checked(child, at, outcome.isKept ? this.#stall(outcome) : undefined)
      case 'consultPolicies':
        return this.#consultation(child, outcome)
    }
  }

  #prepared({ input: { key } }: ChildOf<'prepareTurn'>, { isError, isKept, tokens }: Outcome): PrepareOutput {
    const at = this.driver.now
    if (isError && tokens === 200) return { key, ok: false, error: { code: 'HOOK_FAILED', message: 'no' }, at }
    const decision = isKept
      ? ({ by: ['beforeTurn'], instructions: `${tokens}`, tools: isError ? [] : ['tool', 'helper'] } as const)
      : { by: [] }
    return { key, ok: true, decision, ...(tokens % 3 === 0 ? {} : { tools: this.#taken(tokens) }), at }
  }

  /** Tools of sources: a tool comes, goes, or has other effects, or nothing changes. */
  #taken(tokens: number): TakenTools {
    const { policy } = this.driver.context
    if (tokens % 3 === 1) return { policy }
    const name = 'taken'
    const added = {
      name,
      description: 'd',
      inputSchema: {},
      effects: 'irreversible',
      approval: 'never',
      source: 's',
    } as const
    const isThere = policy.irreversible.includes(name)
    const irreversible = isThere ? policy.irreversible.filter((one) => one !== name) : [...policy.irreversible, name]
    return {
      policy: { ...policy, irreversible },
      change: isThere ? { added: [], removed: [name] } : { added: [added], removed: [] },
    }
  }

  #stall({ tokens }: Outcome): Parameters<typeof checked>[2] {
    const step = rebuildConversation(this.driver.records)
      .log()
      .findLast(({ message }) => message.role === 'assistant')?.stepId
    return step === undefined ? undefined : { step, rung: (['none', 'note', 'revert', 'pause'] as const)[tokens % 4]! }
  }

  #consultation(child: ChildOf<'consultPolicies'>, { isKept, isError, tokens }: Outcome): ConsultOutput {
    const { now: at } = this.driver
    if (!isKept) return consulted(child, at)
    const { key, request, turn } = child.input
    const asked = request === undefined ? {} : { requestId: request.id }
    const start = { policy: 'tidy', why: 'it is due', turn, tokens, ...asked }
    this.driver.send({ type: 'policy.fired', key, start, at })
    const usage = { ...noUsage, input: tokens }
    return isError
      ? consulted(child, at, { outcome: 'failed', reason: 'it broke', usage, costUsd: 0.001 })
      : consulted(child, at, { steps: this.#foldable(), usage, costUsd: 0.001, note: 'think' })
  }

  /** The oldest step of the model that is not hidden. */
  #foldable(): number[] {
    const conversation = rebuildConversation(this.driver.records)
    const step = conversation
      .steps()
      .find(({ id, nodes }) => nodes[0]!.message.role === 'assistant' && !conversation.annotations?.hiddenBy(id))
    return step === undefined ? [] : [step.id]
  }

  #reply(child: ChildOf<'streamReply'>, outcome: Outcome): ReplyOutput {
    const at = this.driver.now
    if (outcome.failure !== null) return refused(child, outcome.failure, at, outcome.retryAfterMs ?? undefined)
    const [helper] = this.driver.context.policy.agents
    const calls = outcome.calls.map((held, index) => ({
      callId: `c${child.nth}.${index}`,
      held,
      ...(helper !== undefined && (child.nth + index) % 2 === 0 ? { name: helper } : {}),
    }))
    const usage = { input: outcome.tokens, output: 7 }
    return replied(child, { calls, usage, costUsd: 0.005, contextTokens: outcome.tokens, foldAt: 500 }, at)
  }

  /** Only a reply that was being streamed leaves something behind. */
  #partial({ isKept, isError }: Outcome) {
    if (
      !isKept ||
      !this.driver.stopped.some(({ src }) => src === 'streamReply') ||
      this.driver.context.calls.length > 0
    )
      return null
    return { content: isError ? [] : text('half a rep'), usage: { ...noUsage, input: 5, output: 2 }, costUsd: 0.001 }
  }

  /** Hides the first model-made step of the trunk and what follows it, up to the last message. */
  #compaction(child: ChildOf<'compactTrunk'>, { isKept }: Outcome): CompactOutput {
    const at = this.driver.now
    const trunk = this.driver.records.filter((record) => 'nodeId' in record)
    const kept = trunk.filter((record) => record.type === 'message.added').map(({ nodeId }) => nodeId)
    const from = trunk.find((record) => record.type === 'reply.end')?.nodeId
    const to = this.driver.context.head
    if (!isKept || from === undefined || to === null || from > to) return compacted(child, { at })
    const spanned = kept.filter((id) => id >= from)
    return compacted(child, {
      at,
      overlay: overlayOver(from, to, spanned),
      usage: { ...noUsage, input: 3 },
      costUsd: 0.001,
      tokensAfter: 10,
    })
  }
}
