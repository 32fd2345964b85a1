import type { AgentDefinition, Callee } from '../../actors/define/agentDefinition.ts'
import type { ChildPorts } from '../../actors/agentPorts.ts'
import type { Cancellation } from '../../actors/timing/cancellation.ts'
import { declaredTask } from '../../actors/parts/calls.ts'
import type { CallOutput } from '../../machines/effectTypes.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../../machines/supervisorTypes.ts'
import type { Evidence } from '../../protocol/braking.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { Spent } from '../../protocol/records.ts'
import { RunOutcome } from '../../protocol/runs/run.ts'
import { notSpent, spentAfter } from '../../log/spent.ts'
import { countedOf } from '../../protocol/parts/inner/innerState.ts'
import { checkDepth, crashed, ifUnwritten, stopped, withoutWords } from './childErrors.ts'
import { since, sumOf, usedBy, type Child, type Life, type Wanted } from './child.ts'
import { answerOf, endOf, finishedAnswer, limitsWithin, type ChildAnswer } from './childAnswer.ts'
import { beginning, childHistory, linkTo } from './childHistory.ts'
import { promptChild, wrongCopy } from './copiedState.ts'
import { childDeps } from './runDeps.ts'
import type { ChildHosts } from './childHosts.ts'
import { continueLife } from './continueLife.ts'
import { named, noEarlier, notBegun, sinceCall, wantedEarlier } from './continued.ts'
import { detachedAnswer, DetachedAgents, isReporting } from './detachedAgents.ts'
import { reportOf } from './reports.ts'
import { InnerAgents } from './innerAgents.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Sub-agents of one agent. Opens, watches and releases them on behalf of their supervisors. */
export class Children implements ChildPorts {
  readonly #parent: TreeAgent
  readonly #hosts: ChildHosts
  readonly #children = new Map<string, Child>()
  /** Usage of removed sub-agents by the key of their call, until the call has its answer. */
  readonly #spent = new Map<string, Spent>()
  /** Sub-agents that outlive this agent. */
  readonly detached: DetachedAgents
  /** Sub-agents that the agent's running calls call; `undefined` if there were none. */
  #inner: InnerAgents | undefined
  /** True once the agent has ended. */
  #isOver = false

  constructor(parent: TreeAgent, hosts: ChildHosts) {
    this.#parent = parent
    this.#hosts = hosts
    this.detached = new DetachedAgents(parent, hosts)
  }

  /** Running children, oldest first. */
  get running(): Life[] {
    return this.#lives('running')
  }

  #lives(...states: readonly Child['state'][]): Life[] {
    return [...this.#children.values()].flatMap(({ state, life }) =>
      life !== undefined && states.includes(state) ? [life] : [],
    )
  }

  /** Resolves once all sub-agents that are being opened, and those below them, are loaded. */
  async ready(): Promise<void> {
    await Promise.all([...this.#children.values()].flatMap(({ ready }) => ready?.promise ?? []))
    await Promise.all([...this.running.map(({ host }) => host.family.ready()), this.detached.collected()])
  }

  /** Resolves once the logs of all sub-agents are released, after the agent was released. */
  async released(): Promise<void> {
    const all = [...this.#children.values()]
    for (const { ready, life } of all) await (ready?.promise ?? life?.gone.promise)
    for (const { release } of all) await release
  }

  /** Number of requested children that the machine does not know yet, because a listener asked for them in the middle of a step. */
  get unseen(): number {
    const seen = new Set(this.#parent.machine.context.attached.map(({ childId }) => childId))
    return [...this.#children].filter(([childId, { state }]) => state === 'wanted' && !seen.has(childId)).length
  }

  /** Returns true if code waits for a child of this id. */
  isWanted(childId: string): boolean {
    return this.#children.get(childId)?.asked !== undefined
  }

  /** Registers a child that code requests and that the machine is about to start. Resolves once it runs. */
  want(childId: string, agent: Callee, { incognito, deps }: Wanted): Promise<TreeAgent> {
    const child = this.#child(childId)
    child.incognito = incognito ? this.#hosts.incognitoStore() : undefined
    child.deps = deps
    child.state = 'wanted'
    child.agent = agent
    child.asked = Promise.withResolvers<TreeAgent>()
    return child.asked.promise
  }

  /** Returns the child, which is registered first if it is new. */
  #child(childId: string): Child {
    const child: Child = this.#children.get(childId) ?? { state: 'ended' }
    this.#children.set(childId, child)
    return child
  }

  call(...[outer, call, signal]: Parameters<ChildPorts['call']>): Promise<CallOutput> {
    return (this.#inner ??= new InnerAgents(this.#parent)).call(outer, call, signal)
  }

  /** A place may have become free for a sub-agent that a running call calls. */
  placeFreed(): void {
    this.#inner?.look()
  }

  async open(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    const opened = await this.#opened(input, cancellation)
    if (!opened.ok && input.isInner === true) this.#inner?.heard(input.key, opened.output)
    return opened
  }

  async #opened(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    const child = this.#child(input.childId)
    child.state = 'opening'
    child.ready = Promise.withResolvers<void>()
    const { calls, attached } = this.#parent.machine.context
    const isOpen = (key: string): boolean => [...calls, ...attached].some((call) => call.key === key)
    for (const key of this.#spent.keys()) if (!isOpen(key)) this.#spent.delete(key)
    if (child.asked !== undefined) cancellation.add(() => this.#hasNot(child, stopped(this.#parent)))
    const output = await this.#tryToOpen(child, input, cancellation)
    if (output.ok) return output
    child.state = 'ended'
    this.#isReady(child)
    this.#forget(input.childId)
    return output
  }

  async #tryToOpen(child: Child, input: OpenInput, cancellation: Cancellation): Promise<OpenOutput> {
    try {
      await this.#parent.log.held()
      const agent = child.agent ?? this.#parent.view.definition.agents.get(input.name)
      if (agent === undefined) throw new RuntimeError('CHILD_REFUSED', `There is no agent "${input.name}".`)
      const opened = await this.#open(child, agent, input, cancellation)
      return 'host' in opened
        ? { ok: true, agent: opened.host.machine.input, policy: agent.restarts }
        : { ok: false, output: opened }
    } catch (thrown) {
      this.#hasNot(child, thrown)
      const error = toErrorInfo(thrown, 'CHILD_REFUSED')
      return { ok: false, output: { ...this.#failure(input, error), ...ifUnwritten(error) } }
    }
  }

  #isReady(child: Child): void {
    child.ready?.resolve()
    child.ready = undefined
  }

  /** Starts the child, or returns the answer to its call instead. */
  async #open(child: Child, agent: Callee, input: OpenInput, cancellation: Cancellation): Promise<Life | CallOutput> {
    const { definition } = agent
    const { childId, callId } = input
    checkDepth(this.#parent)
    const task = callId === null ? undefined : declaredTask(this.#parent.view.definition, agent, input.input)
    if (task?.ok === false) return this.#answer(input, { text: task.message, isError: true })
    const running = agent.detach === false ? undefined : this.detached.get(childId)
    if (running !== undefined)
      return this.#answer(input, detachedAnswer(running.agentId, definition.name, isReporting(running)))
    const incognito = child.incognito ?? (this.#parent.incognito && this.#parent.store)
    const store = incognito ?? this.#parent.store
    const wanted = wantedEarlier(agent, input.input)
    if (wanted !== undefined && wanted !== childId)
      return this.#answer(input, await noEarlier(this.#parent, input, wanted))
    const lease = await this.#hosts.openLog(childId, store, this.#parent.leasing)
    try {
      cancellation.throwIfAborted()
      if (wanted !== undefined && lease.lastSeq === 0) throw new RuntimeError('CHILD_REFUSED', 'It has no log.')
      const link = linkTo(this.#parent, agent, input)
      const history = await childHistory(this.#parent, agent, { childId, link, store, isNew: lease.lastSeq === 0 })
      cancellation.throwIfAborted()
      const { calls, parts } = this.#parent.machine.context
      const counted = calls.find((call) => call.key === input.key)?.counted
      const { own, before } = history === undefined ? notBegun : sinceCall(agent, history, input.key)
      const usedBefore = sumOf(before, input.isInner === true ? countedOf(parts.inner, childId) : counted)
      const known = own && finishedAnswer(own, definition, counted !== undefined)
      const answer = task === undefined ? undefined : own === undefined ? wrongCopy(agent, this.#parent) : known
      if (answer !== undefined) {
        await lease.release()
        if (agent.detach === 'report') return this.#reported(input, answer, definition)
        const { spent } = (history?.records ?? []).reduce(spentAfter, notSpent)
        return this.#answer(input, this.#named(agent, input, answer), since(usedBefore, spent))
      }
      const { id, isBegun, isQueued } = beginning(own, input.key)
      const limits = limitsWithin(definition.policy.limits, input.allowance)
      const prompt =
        task === undefined || isQueued || isBegun
          ? undefined
          : { id, content: [{ type: 'text', text: task.text } as const], limits }
      const host = this.#hosts.adopt({
        agentId: childId,
        definition,
        lease,
        history,
        link,
        metadata: this.#parent.metadata,
        ...(agent.detach === false ? { parent: this.#parent } : {}),
        incognito,
        deps: child.deps ?? childDeps(agent, this.#parent, task !== undefined),
        ...(agent.detach !== false || task === undefined ? {} : { task: id }),
      })
      if (agent.detach !== false) {
        const begun = this.detached.begin(host, input, { prompt, isBegun, agent })
        this.#has(child, host)
        await begun
        return this.#answer(input, detachedAnswer(childId, definition.name, isReporting(host)))
      }
      const isCalled = task !== undefined
      if (!isCalled && input.life === 0) child.usedBefore = host.view.spent
      const life: Life = {
        host,
        key: input.key,
        run: isCalled ? host.runs.await(new RunOutcome(id)) : undefined,
        resume: isBegun,
        limits: isCalled ? limits : undefined,
        isCalled,
        usedBefore: isCalled ? usedBefore : child.usedBefore,
        gone: Promise.withResolvers(),
        prompt,
        stallMs: agent.stallMs,
        agent,
      }
      child.state = 'opened'
      child.life = life
      // An abort may come before its supervisor runs it.
      cancellation.add(() => queueMicrotask(() => this.#discard(childId, life)))
      return life
    } catch (thrown) {
      await lease.release()
      const isAnother = wanted !== undefined && thrown instanceof RuntimeError && thrown.code === 'CHILD_REFUSED'
      if (isAnother) return this.#answer(input, await noEarlier(this.#parent, input, wanted))
      throw thrown
    }
  }

  async watch(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput> {
    const watched = await this.#watched(input, cancellation)
    if (input.isInner === true) this.#inner?.heard(input.key, watched.output)
    return watched
  }

  async #watched(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput> {
    const child = this.#children.get(input.childId)!
    const life = child.life!
    const { host, run } = life
    child.state = 'running'
    // The newest life stands last.
    this.#children.delete(input.childId)
    this.#children.set(input.childId, child)
    this.#has(child, host)
    host.wake()
    if (life.prompt !== undefined) promptChild(host, life.prompt, { agent: life.agent, caller: this.#parent })
    const exhausted = life.resume ? continueLife(input, life) : undefined
    this.#isReady(child)
    const { ended } = host.machine
    const released = ended.then(() => this.#release(input.childId, life))
    const stalled = host.stallTimer.stalled(life.stallMs, cancellation)
    const crash = await Promise.race([ended, stalled.promise])
    stalled.cancel()
    const { clock } = this.#parent.shared
    if (crash !== null) {
      host.runs.endAll(crash)
      const error = child.incognito === undefined ? crash : withoutWords(crash)
      return { type: 'crashed', error, output: this.#failure(input, crashed(error), usedBy(life)), at: clock.now() }
    }
    await released
    const answer =
      exhausted ??
      (run === undefined
        ? { text: '', isError: false }
        : this.#named(life.agent, input, answerOf(endOf(await run.result, run), host.view.definition)))
    return {
      type: 'ended',
      output: { ...this.#answer(input, answer, usedBy(life)), stopped: host.machine.isEndedOnPurpose },
      at: clock.now(),
    }
  }

  /** Notes that the agent has removed the child, whose place is now free. */
  left(childId: string): void {
    this.#inner?.left(childId)
    const child = this.#children.get(childId)
    if (child === undefined) return
    child.agent = child.usedBefore = child.incognito = child.deps = undefined
    child.left?.resolve()
    child.left = undefined
    this.#forget(childId)
  }

  /** Notes that the agent has ended and can remove no more children. */
  leftAll(): void {
    this.#isOver = true
    for (const child of this.#children.values()) {
      child.left?.resolve()
      child.left = undefined
      if (child.state === 'wanted') this.#hasNot(child, stopped(this.#parent))
    }
  }

  /** Resolves once the agent has removed a child. */
  gone(childId: string): Promise<void> {
    const isAttached = this.#parent.machine.context.attached.some((child) => child.childId === childId)
    if (this.#isOver || !isAttached) return Promise.resolve()
    const child = this.#child(childId)
    child.left ??= Promise.withResolvers<void>()
    return child.left.promise
  }

  /** Resolves the promise of the code that asked for the child. */
  #has(child: Child, host: TreeAgent): void {
    child.asked?.resolve(host)
    child.asked = undefined
  }

  /** Rejects the promise of the code that asked for the child. */
  #hasNot(child: Child, why: unknown): void {
    child.asked?.reject(why)
    child.asked = undefined
  }

  /** Releases a child that the supervisor never started. */
  #discard(childId: string, life: Life): void {
    const child = this.#children.get(childId)
    if (child?.state !== 'opened' || child.life !== life) return
    this.#isReady(child)
    void this.#release(childId, life)
  }

  /** Releases a child that has ended, so that its log can be opened again. */
  async #release(childId: string, life: Life): Promise<void> {
    const child = this.#child(childId)
    if (child.life === life) {
      child.life = undefined
      if (child.state !== 'opening') child.state = 'ended'
    }
    if (life.isCalled) this.#spent.set(life.key, usedBy(life))
    life.gone.resolve()
    this.#parent.family.changed()
    const release = this.#hosts.release(life.host).catch((thrown: unknown) => this.#parent.announcer.fail(thrown))
    child.release = release
    await release
    if (child.release === release) child.release = undefined
    this.#forget(childId)
  }

  /** Removes a child that has ended and has no waiting callers. */
  #forget(childId: string): void {
    const child = this.#children.get(childId)
    if (child?.state !== 'ended') return
    const { agent, asked, release, usedBefore, left } = child
    if ((agent ?? asked ?? release ?? usedBefore ?? left) === undefined) this.#children.delete(childId)
  }

  abandon(sinceTurn: number): NonNullable<Evidence['children']> {
    const attached = this.#lives('running').flatMap(({ host, isCalled }) => (isCalled ? [] : [host]))
    const isSince = ({ machine }: TreeAgent): boolean => (machine.input.parent?.turnIndex ?? -1) >= sinceTurn
    const found = [...attached, ...this.detached.hosts].filter(isSince)
    return found.map((host) => {
      const aborted = attached.includes(host)
      if (aborted) host.machine.send({ type: 'abort' })
      return { agentId: host.agentId, name: host.view.definition.name, aborted }
    })
  }

  /** Sends the report of an agent that had ended before its call had a result, and returns that result. */
  #reported(input: OpenInput, answer: ChildAnswer, definition: AgentDefinition): CallOutput {
    const report = reportOf(input.key, { agentId: input.childId, definition }, answer)
    this.#parent.machine.send({ ...report, at: this.#parent.shared.clock.now() })
    return this.#answer(input, detachedAnswer(input.childId, definition.name, true))
  }

  waitFor(...wait: Parameters<DetachedAgents['waitFor']>): ReturnType<DetachedAgents['waitFor']> {
    return this.detached.waitFor(...wait)
  }

  async settled(): Promise<{ readonly [key: string]: Spent }> {
    const called = this.#lives('opened', 'running').filter(({ isCalled }) => isCalled)
    await Promise.all(called.map(({ gone }) => gone.promise))
    return Object.fromEntries(this.#spent)
  }

  /** Adds the sub-agent's id to its answer, for the model that reads it; data is left as it is. */
  #named(agent: Callee, { childId, isInner }: OpenInput, answer: ChildAnswer): ChildAnswer {
    return isInner === true && agent.definition.output !== null ? answer : named(agent, childId, answer)
  }

  #failure(input: OpenInput, error: ErrorInfo, spent?: Spent): CallOutput {
    return { ...this.#answer(input, { text: error.message, isError: true }, spent), error }
  }

  #answer({ key }: OpenInput, { text, ...answer }: ChildAnswer, spent?: Spent): CallOutput {
    const { counter, correction } = this.#parent.view.conversation
    const at = this.#parent.shared.clock.now()
    const content = [{ type: 'text', text } as const]
    const tokens = Math.round(counter.text(text) * correction)
    return { key, content, ...answer, tokens, at, ...(spent === undefined ? {} : { spent }) }
  }
}
