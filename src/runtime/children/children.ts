import type { SubAgent } from '../../actors/agentDefinition.ts'
import type { ChildPorts } from '../../actors/agentPorts.ts'
import type { Cancellation } from '../../actors/cancellation.ts'
import { taskOf } from '../../actors/subAgents.ts'
import type { CallOutput } from '../../machines/agentTypes.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../../machines/supervisorTypes.ts'
import type { Evidence } from '../../protocol/braking.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import {
  recordVersion,
  type Limits,
  type LogRecord,
  type ParentLink,
  type QueuedMessage,
  type Spent,
} from '../../protocol/records.ts'
import { answerOf, finishedAnswer, limitsWithin, usedUp, type ChildAnswer } from './childAnswer.ts'
import type { ChildHosts } from './childHosts.ts'
import type { TreeAgent } from './treeAgent.ts'
import { lastText } from '../events/runs.ts'
import { RunOutcome } from '../../runs/run.ts'
import { lessSpent, noneSpent, spentAfter } from '../../sessions/spent.ts'
import { readHistory, type History } from '../../sessions/readHistory.ts'

/** A promise settled from outside. Declarations are read with older libraries too, which do not know `PromiseWithResolvers`. */
interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

interface LiveChild {
  readonly host: TreeAgent
  readonly key: string
  /** The run whose answer a call waits for. */
  readonly run: RunOutcome | undefined
  /** That run goes on from one that was cut off. */
  readonly resume: boolean
  /** Of a called one. */
  readonly limits: Limits | undefined
  readonly isCalled: boolean
  /** What it had used before it was attached; or, of a called one, what runs that a limit ended have counted. */
  readonly usedBefore: Spent | undefined
  /** Its first message, unless its log has that already. */
  readonly prompt: QueuedMessage | undefined
  readonly stallMs: number
  /** Settled once it has ended, or will never be run. */
  readonly gone: Deferred<void>
}

/** The sub-agents of one agent: opened, watched and let go as their supervisors say. */
export class Children implements ChildPorts {
  readonly #parent: TreeAgent
  readonly #hosts: ChildHosts
  /** Ready to be run by their supervisors. */
  readonly #opened = new Map<string, LiveChild>()
  readonly #live = new Map<string, LiveChild>()
  /** Settled once a child that is being opened is run, or will not be. */
  readonly #opening = new Map<string, PromiseWithResolvers<void>>()
  /** What called ones had used that are no more, until their call has its answer. */
  readonly #spent = new Map<string, Spent>()
  /** Told when the agent has taken leave of a child. */
  readonly #leaving = new Map<string, Deferred<void>>()
  readonly #detached = new Map<string, TreeAgent>()
  /** Of lives that have ended: the next one waits for the log. */
  readonly #releases = new Map<string, Promise<void>>()
  /** Children that code asks for, by id. */
  readonly wanted = new Map<string, { readonly agent: SubAgent; readonly opened: Deferred<TreeAgent> }>()

  /** Children that code asked for, as they are begun anew after a crash. */
  readonly #asked = new Map<string, { readonly agent: SubAgent; readonly opened?: Deferred<TreeAgent> }>()
  /** What they had used before they were attached. */
  readonly #usedBefore = new Map<string, Spent>()

  constructor(parent: TreeAgent, hosts: ChildHosts) {
    this.#parent = parent
    this.#hosts = hosts
  }

  get hosts(): TreeAgent[] {
    return [...this.#live.values()].map(({ host }) => host)
  }

  /** Resolves once those that are being opened are there, and all below them. */
  async ready(): Promise<void> {
    await Promise.all([...this.#opening.values()].map(({ promise }) => promise))
    await Promise.all(this.hosts.map(async (host) => host.childrenReady()))
  }

  async open(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    this.#opening.set(input.childId, Promise.withResolvers())
    const output = await this.#tryToOpen(input, cancellation)
    if (!output.ok) this.#isReady(input.childId)
    return output
  }

  #isReady(childId: string): void {
    this.#opening.get(childId)?.resolve()
    this.#opening.delete(childId)
  }

  async #tryToOpen(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    const { calls } = this.#parent.context
    for (const key of this.#spent.keys()) if (!calls.some((call) => call.key === key)) this.#spent.delete(key)
    const wanted = this.wanted.get(input.childId) ?? this.#asked.get(input.childId)
    if (wanted !== undefined) {
      cancellation.add(() => wanted.opened?.reject(stopped(this.#parent)))
      this.#asked.set(input.childId, wanted)
    }
    const agent = wanted?.agent ?? this.#parent.definition.agents.get(input.name)
    try {
      if (agent === undefined) throw new RuntimeError('CHILD_REFUSED', `There is no agent "${input.name}".`)
      return await this.#open(agent, input, cancellation)
    } catch (thrown) {
      const error = toErrorInfo(thrown, 'CHILD_REFUSED')
      wanted?.opened?.reject(thrown)
      return { ok: false, output: this.#failure(input, error) }
    }
  }

  async #open(agent: SubAgent, input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    const { definition } = agent
    const { childId, key, callId } = input
    const depth = this.#parent.path.length + 1
    if (depth > this.#parent.maxDepth)
      throw new RuntimeError(
        'CHILD_REFUSED',
        `A sub-agent here would be at depth ${depth}; ${this.#parent.maxDepth} is the most allowed.`,
      )
    const task = callId === null ? undefined : taskOf(definition, input.input)
    if (task?.ok === false) return { ok: false, output: this.#answer(input, { text: task.message, isError: true }) }
    await this.#releases.get(childId)
    const running = agent.detach ? this.#detached.get(childId) : undefined
    if (running !== undefined) return { ok: false, output: this.#answer(input, detachedAnswer(running)) }
    const lease = await this.#hosts.openLog(childId)
    try {
      cancellation.throwIfAborted()
      const link = {
        agentId: input.agentId,
        runId: input.runId,
        turnIndex: input.turnIndex,
        ...(callId === null ? {} : { callId }),
      }
      const history = await this.#history(agent, { childId, link, isNew: lease.lastSeq === 0 })
      cancellation.throwIfAborted()
      const counted = this.#parent.context.calls.find((call) => call.key === key)?.counted
      const answer =
        task === undefined || history === undefined
          ? undefined
          : finishedAnswer(history, definition, counted !== undefined)
      if (answer !== undefined) {
        await lease.release()
        const spent = history!.records.reduce(spentAfter, noneSpent)
        return { ok: false, output: this.#answer(input, answer, since(counted, spent)) }
      }
      const isQueued =
        history?.records.some((record) => record.type === 'queue.changed' && record.added?.id === key) ?? false
      // A crash may have come between a run's start and its message.
      const isBegun = history?.records.some((record) => record.type === 'message.added') ?? false
      const isStarted = history?.records.some((record) => record.type === 'run.start') ?? false
      const id = isStarted ? `${key}/life/${history!.records.length}` : key
      const limits = limitsWithin(definition.policy.limits, input.allowance)
      const message =
        task === undefined || isQueued || isBegun
          ? undefined
          : { id, content: [{ type: 'text', text: task.text } as const], limits }
      const host = this.#hosts.adopt({
        agentId: childId,
        definition,
        lease,
        history,
        link,
        ...(agent.detach ? {} : { parent: this.#parent }),
        ...(agent.detach || task === undefined ? {} : { task: id }),
      })
      if (agent.detach) return { ok: false, output: this.#detach(input, host, { message, isBegun }) }
      const isCalled = task !== undefined
      if (!isCalled && input.life === 0) this.#usedBefore.set(childId, host.spent)
      const child: LiveChild = {
        host,
        key,
        run: isCalled ? host.runs.await(new RunOutcome(id)) : undefined,
        resume: isBegun,
        limits: isCalled ? limits : undefined,
        isCalled,
        usedBefore: isCalled ? counted : this.#usedBefore.get(childId),
        gone: Promise.withResolvers(),
        prompt: message,
        stallMs: agent.stallMs,
      }
      this.#opened.set(childId, child)
      // An abort may come before its supervisor runs it.
      cancellation.add(() => queueMicrotask(() => this.#discard(childId, child)))
      return { ok: true, agent: host.input, policy: agent.restarts }
    } catch (thrown) {
      await lease.release()
      throw thrown
    }
  }

  /** What the child goes on from: its log; or of a fork, at its beginning, the trunk of its parent. */
  async #history(
    agent: SubAgent,
    { childId, link, isNew }: { childId: string; link: ParentLink; isNew: boolean },
  ): Promise<History | undefined> {
    const { store } = this.#parent
    if (!isNew) {
      const history = await readHistory(store, childId)
      const { parent, definition } = history.created
      if (history.records.at(-1)?.type === 'agent.stopped')
        throw new RuntimeError('AGENT_STOPPED', `Agent "${childId}" was stopped for good.`)
      const isSame = parent?.agentId === link.agentId && parent.callId === link.callId
      if (isSame && definition === agent.definition.name) return history
      throw new RuntimeError('CHILD_REFUSED', `The log of agent "${childId}" is that of another.`)
    }
    const { head, lastSeq } = this.#parent.conversation
    if (agent.context === 'own' || head === null) return undefined
    await this.#parent.durable()
    const source = await readHistory(store, link.agentId)
    const { name, model } = agent.definition
    const created = {
      v: recordVersion,
      seq: 1,
      time: this.#parent.clock.now(),
      type: 'agent.created',
      agentId: childId,
      path: [...this.#parent.path, link.agentId],
      definition: name,
      model: model.id,
      machine: source.created.machine,
      parent: link,
      forkedFrom: { agentId: link.agentId, seq: lastSeq, at: head },
    } as const satisfies LogRecord
    await store.append(childId, [created])
    const past = [...source.past, ...source.records.filter(({ seq }) => seq <= lastSeq)]
    return { created, past, records: [created] }
  }

  async watch(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput> {
    const child = this.#opened.get(input.childId)!
    const { host, run, resume } = child
    this.#opened.delete(input.childId)
    this.#live.set(input.childId, child)
    this.#wasOpened(input.childId, host)
    host.wake()
    if (child.prompt !== undefined) host.send({ type: 'prompt', ...child.prompt, at: host.clock.now() })
    const exhausted = resume ? this.#goOn(input, child) : undefined
    this.#isReady(input.childId)
    const { ended } = host
    const released = ended.then(() => this.#release(input.childId, child))
    const stalled = host.stallTimer.stalled(child.stallMs, cancellation)
    const crash = await Promise.race([ended, stalled.promise])
    stalled.cancel()
    const { clock } = this.#parent
    if (crash !== null) {
      host.runs.endAll(crash)
      const output = this.#failure(input, crash, usedBy(child))
      return { type: 'crashed', error: crash, output, at: clock.now() }
    }
    await released
    const answer =
      exhausted ?? (run === undefined ? { text: '', isError: false } : answerOf(await run.result, host.definition))
    return {
      type: 'ended',
      output: { ...this.#answer(input, answer, usedBy(child)), stopped: host.isEndedOnPurpose },
      at: clock.now(),
    }
  }

  /** Goes on with a run that was cut off, or that a limit had ended; or says, with what its earlier lives had used, that nothing is left to do so. */
  #goOn(input: OpenInput, child: LiveChild): ChildAnswer | undefined {
    const { host, run, limits } = child
    const { pause, pausedLimits } = host.context
    if (pause === null) return undefined
    if (pause.type === 'approvals') {
      // It waits for people in the run it had.
      if (run !== undefined) host.runs.join(run)
      return undefined
    }
    const reason = limits === undefined ? undefined : usedUp(usedBy(child), limits)
    if (reason !== undefined) {
      host.send({ type: 'abort' })
      return answerOf({ stopReason: 'paused', text: lastText(host.conversation), reason }, host.definition)
    }
    const left = limits === undefined ? undefined : limitsWithin(pausedLimits ?? {}, limits)
    const next = run ?? host.runs.await(new RunOutcome(`${input.key}/life/${host.conversation.lastSeq}`))
    if (pause.type === 'interrupted') host.runs.continue(next, left)
    else void host.runs.resume(next, left)
    return undefined
  }

  /** The agent has taken leave of it: its place is free. */
  left(childId: string): void {
    this.#asked.delete(childId)
    this.#usedBefore.delete(childId)
    this.#leaving.get(childId)?.resolve()
    this.#leaving.delete(childId)
  }

  leftAll(): void {
    for (const { resolve } of this.#leaving.values()) resolve()
    this.#leaving.clear()
  }

  /** Resolves once the agent has taken leave of a child. */
  gone(childId: string): Promise<void> {
    if (!this.#parent.context.attached.some((child) => child.childId === childId)) return Promise.resolve()
    const leaving = this.#leaving.get(childId) ?? Promise.withResolvers<void>()
    this.#leaving.set(childId, leaving)
    return leaving.promise
  }

  /** Whoever asked for it has it now; only how it is to be begun anew is kept. */
  #wasOpened(childId: string, host: TreeAgent): void {
    const asked = this.#asked.get(childId)
    if (asked === undefined) return
    asked.opened?.resolve(host)
    this.#asked.set(childId, { agent: asked.agent })
  }

  /** Its supervisor did not come to run it. */
  #discard(childId: string, child: LiveChild): void {
    if (this.#opened.get(childId) !== child) return
    this.#opened.delete(childId)
    this.#isReady(childId)
    void this.#release(childId, child)
  }

  /** Lets go of a child that has ended; its log can be opened again then. */
  #release(childId: string, child: LiveChild): Promise<void> {
    if (this.#live.get(childId) === child) this.#live.delete(childId)
    if (child.isCalled) this.#spent.set(child.key, usedBy(child))
    child.gone.resolve()
    const release = this.#hosts.release(child.host).catch((thrown: unknown) => this.#parent.fail(thrown))
    this.#releases.set(childId, release)
    return release.then(() => {
      if (this.#releases.get(childId) === release) this.#releases.delete(childId)
    })
  }

  /** Begins an agent that outlives this one: its call is answered at once. */
  #detach(
    input: OpenInput,
    host: TreeAgent,
    { message, isBegun }: { message: QueuedMessage | undefined; isBegun: boolean },
  ): CallOutput {
    host.start()
    this.#detached.set(host.agentId, host)
    host.onEnd(() => void this.#detached.delete(host.agentId))
    this.#wasOpened(host.agentId, host)
    if (message !== undefined) host.send({ type: 'prompt', ...message, at: host.clock.now() })
    else if (isBegun && host.context.pause?.type === 'interrupted')
      host.runs.continue(host.runs.await(new RunOutcome(`${input.key}/life/${host.conversation.lastSeq}`)), undefined)
    return this.#answer(input, detachedAnswer(host))
  }

  abandon(sinceTurn: number): NonNullable<Evidence['children']> {
    const attached = [...this.#live.values()].flatMap(({ host, isCalled }) => (isCalled ? [] : [host]))
    const found = [...attached, ...this.#detached.values()].filter(
      ({ input: { parent } }) => parent !== undefined && parent.turnIndex >= sinceTurn,
    )
    return found.map((host) => {
      const aborted = attached.includes(host)
      if (aborted) host.send({ type: 'abort' })
      return { agentId: host.agentId, name: host.definition.name, aborted }
    })
  }

  async settled(): Promise<{ readonly [key: string]: Spent }> {
    const called = [...this.#opened.values(), ...this.#live.values()].filter(({ isCalled }) => isCalled)
    await Promise.all(called.map(({ gone }) => gone.promise))
    return Object.fromEntries(this.#spent)
  }

  #failure(input: OpenInput, error: ErrorInfo, spent?: Spent): CallOutput {
    return { ...this.#answer(input, { text: error.message, isError: true }, spent), error }
  }

  #answer({ key }: OpenInput, { text, ...answer }: ChildAnswer, spent?: Spent): CallOutput {
    const { conversation, clock } = this.#parent
    const content = [{ type: 'text', text } as const]
    const tokens = Math.round(conversation.counter.text(text) * conversation.correction)
    return { key, content, ...answer, tokens, at: clock.now(), ...(spent === undefined ? {} : { spent }) }
  }
}

const since = (before: Spent | undefined, spent: Spent): Spent =>
  before === undefined ? spent : lessSpent(spent, before)

/** What a child has used since it was attached, called or last counted. */
const usedBy = ({ host, usedBefore }: LiveChild): Spent => since(usedBefore, host.spent)

const detachedAnswer = ({ agentId, definition }: TreeAgent) => ({
  text: `The agent "${definition.name}" works on it on its own, as ${agentId}. Its answer does not come back here.`,
  isError: false,
})

const stopped = ({ agentId }: TreeAgent): RuntimeError =>
  new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped meanwhile.`)
