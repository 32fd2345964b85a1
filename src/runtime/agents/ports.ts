import type { AgentPorts, IncognitoResult, LiveBody, PartialReply, TurnPlace } from '../../actors/agentPorts.ts'
import type { StatePort } from '../../actors/parts/state/stateDoor.ts'
import { isIgnored } from '../../actors/calls/lessonTools.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { isMadeOfModels, type Gate, type LimitedModels } from '../../actors/models/openStream.ts'
import type { Model } from '../../protocol/ports/model.ts'
import { heldGate, standInGate } from '../../actors/models/standInGate.ts'
import { GroupMember } from '../../conversation/brakes/lessons/lessons.ts'
import type { SharedLessons } from '../../conversation/brakes/lessons/sharedLessons.ts'
import type { AssembledRequest } from '../../conversation/request/assembleRequest.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import type { CallReporter } from '../../machines/reporters.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { Closable } from '../../actors/tools/toolContext.ts'
import type { AgentSnapshots } from '../../protocol/ports/snapshots.ts'
import type { TracedEffect } from '../../protocol/ports/tracer.ts'
import type { GrowingReply } from '../../protocol/events.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { Answer } from '../../protocol/questions.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { PartDraft, PartStates } from '../../machines/partStates.ts'
import { runIncognito } from '../children/runIncognito.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { AgentState } from './agentState.ts'
import { callersState } from './callersState.ts'
import { Answers } from './answers.ts'
import { Background } from './background.ts'
import type { Family } from './family.ts'
import type { HostShared } from './hostOptions.ts'
import type { AgentLog } from './log.ts'
import type { Machine } from './machine.ts'
import { keepRules, permissionsOf } from './permissions.ts'
import { RequestCaptures } from './requestCaptures.ts'
import type { View } from './view.ts'

/** The loaded agent through which its effects reach the outside. */
interface Reached extends TreeAgent {
  readonly ownDefinition: AgentDefinition
  readonly shared: HostShared
  readonly machine: Machine
  readonly family: Family
  readonly log: AgentLog
  readonly view: View
}

/** Maximum time for cleaning up after one call, in milliseconds. */
const cleanUpMs = 10_000

/** Everything that the effects of one loaded agent may reach, with their work in progress. */
export class Ports implements AgentPorts {
  readonly #agent: Reached
  readonly agentId: string
  readonly path: readonly string[]
  readonly ownDefinition: AgentDefinition
  readonly conversation: Conversation
  readonly lookAtSources: AgentPorts['lookAtSources']
  readonly incognito: true | undefined
  readonly metadata: Metadata | undefined
  readonly clock: Clock
  readonly random: () => number
  /** The agent's own state. */
  readonly ownState: AgentState | undefined
  readonly state: StatePort | undefined
  partial: PartialReply | null = null
  announced = ''
  group: GroupMember | undefined
  #printed: AgentPorts['printed'] | undefined
  #kept: AgentPorts['kept'] | undefined
  #answers: Answers | undefined
  #background: Background | undefined
  /** Set once the agent has called a model, if there are limits. */
  #waits: ModelWaits | undefined
  /** Set with `captureTurnRequests`. */
  readonly #captures: RequestCaptures | undefined
  /** Resolves in the next turn of the event loop, for an agent that was opened from its log in this one. */
  #opening: Promise<void> | undefined

  constructor(
    agent: Reached,
    {
      past,
      records,
      base,
    }: { readonly past: readonly LogRecord[]; readonly records: readonly LogRecord[]; readonly base?: unknown },
  ) {
    const { view, shared } = agent
    this.#agent = agent
    this.agentId = agent.agentId
    this.path = agent.path
    this.ownDefinition = agent.ownDefinition
    this.conversation = view.conversation
    this.lookAtSources = view.sourced?.look
    this.incognito = agent.incognito
    this.metadata = agent.metadata
    this.clock = shared.clock
    this.random = shared.random
    const { state } = agent.ownDefinition
    this.ownState = state === null ? undefined : new AgentState(agent, state, this)
    this.state = this.ownState ?? callersState(agent)
    if (agent.ownDefinition.captureTurnRequests) this.#captures = new RequestCaptures([...past, ...records])
    if (base !== undefined || records.length > 0) this.#open(new Promise((resolve) => setImmediate(resolve)))
  }

  get printed(): AgentPorts['printed'] {
    return (this.#printed ??= new Map())
  }

  get kept(): AgentPorts['kept'] {
    return (this.#kept ??= new Map())
  }

  /** Holds all effects back until the work is done, and until earlier work that they wait for is done. */
  #open(work: Promise<unknown>): void {
    const opening: Promise<void> = Promise.all([this.#opening, work]).then(() => {
      if (this.#opening === opening) this.#opening = undefined
    })
    this.#opening = opening
  }

  /** Cleans up after background calls of a dead process. Nothing of the agent continues before that. */
  cleanUp(calls: readonly CallReporter[]): void {
    const works = calls.flatMap(({ name, left }) => {
      const cleanUp = left === undefined ? undefined : this.definition.tools.get(name)?.background?.cleanUp
      return cleanUp === undefined ? [] : [this.#cleanUp(name, () => cleanUp(left))]
    })
    if (works.length > 0) this.#open(Promise.all(works))
  }

  async #cleanUp(name: string, cleanUp: () => void | Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>()
    const cancel = this.clock.after(cleanUpMs, () => late.reject(new Error(`It took longer than ${cleanUpMs} ms.`)))
    try {
      await Promise.race([cleanUp(), late.promise])
    } catch (thrown) {
      this.callbackFailed(`cleanUp of tool "${name}"`, thrown)
    } finally {
      cancel()
    }
  }

  get definition(): AgentDefinition {
    return this.#agent.view.definition
  }

  get deps(): unknown {
    return this.#agent.deps
  }

  get permissions(): AgentPorts['permissions'] {
    return permissionsOf(this.#agent)
  }

  get frame(): AgentPorts['frame'] {
    return this.#agent.view.requests.frame
  }

  get leftBehind(): AgentPorts['leftBehind'] {
    return this.#agent.view.requests.leftBehind
  }

  get redactor(): Redactor | undefined {
    return this.#agent.shared.sources.redactor
  }

  get isObserved(): boolean {
    return this.#agent.announcer.isObserved
  }

  get snapshots(): AgentSnapshots {
    const { agentId } = this
    const { store, shared } = this.#agent
    const all = store.snapshots ?? shared.snapshots
    return {
      maxFileBytes: all.maxFileBytes,
      put: (bytes) => all.put(agentId, bytes),
      get: (id, owner = agentId) => all.get(owner, id),
    }
  }

  /** The agent's sub-agents; missing while it has none and its model can neither call any nor wait for calls. */
  get children(): AgentPorts['children'] {
    const { family, view } = this.#agent
    const { agents, policy } = view.definition
    return family.known ?? (agents.size === 0 && policy.background === undefined ? undefined : family.children)
  }

  get background(): Background {
    return (this.#background ??= new Background(this.#agent))
  }

  closeWith(resource: Closable, of: 'agent' | 'runtime'): boolean {
    return this.#agent.shared.resources.note(resource, of === 'agent' ? this.agentId : undefined)
  }

  tellApplication(message: string): void {
    this.#agent.shared.sources.warn(message)
  }

  callbackFailed(what: string, thrown: unknown): void {
    this.#agent.announcer.callbackFailed(what, thrown)
  }

  decided(...[live]: Parameters<AgentPorts['decided']>): void {
    this.#agent.view.requests.decided(live)
  }

  assemble(turnIndex: number): AssembledRequest {
    return this.#agent.view.requests.assemble(turnIndex)
  }

  /** Id of the model that the agent waits for, within the limits of the runtime. */
  get waitsFor(): string | null {
    return this.#waits?.model ?? null
  }

  gate(tokens?: number, model?: Model): Gate | undefined {
    const { shared, store, log } = this.#agent
    const { models, instead } = shared
    const gate = models === undefined ? undefined : (this.#waits ??= new ModelWaits(this.#agent, models)).gate(tokens)
    // `within` has checked the log for a model that is called at once.
    const isChecked = gate === undefined && model !== undefined && !isMadeOfModels(model)
    const held = store.holds === undefined || isChecked ? gate : heldGate(gate, () => log.checkHeld())
    if (instead === undefined) return held
    const root = this.path[0] ?? this.agentId
    return standInGate(held, (asked) => instead(asked, root))
  }

  /** The part of the current reply that has arrived; with a redactor, the part that was announced. */
  get growingReply(): GrowingReply | undefined {
    const { partial } = this
    if (partial === null) return undefined
    const { announcer, machine } = this.#agent
    const { text, thinking } = this.redactor === undefined ? partial : announcer.announced
    return { ...machine.at, text, thinking }
  }

  capture(...[key, attempt, request, provenance]: Parameters<AgentPorts['capture']>): void {
    const { machine, announcer } = this.#agent
    try {
      const capture = { attempt, ...this.#captures!.next(this.frame.model.id, request, provenance) }
      machine.tell({ type: 'request.captured', key, capture })
    } catch (thrown) {
      announcer.fail(thrown)
    }
  }

  runIncognito(...[definition, prompt, options]: Parameters<AgentPorts['runIncognito']>): Promise<IncognitoResult> {
    return runIncognito(this.#agent, this.#agent.shared.childHosts, definition, prompt, options)
  }

  within<T>(effect: TracedEffect, run: () => T): T {
    const { log, announcer } = this.#agent
    log.checkHeld()
    return announcer.within(effect, run)
  }

  durable(): Promise<void> | undefined {
    const { log } = this.#agent
    // The code that opened it can listen before anything goes on.
    return this.#opening === undefined ? log.durable() : this.#opening.then(() => log.durable())
  }

  held(): Promise<void> {
    return this.#agent.log.held()
  }

  exportSession(): AsyncIterable<string> {
    return this.#agent.log.exportSession()
  }

  /** People's answers to the agent's calls. */
  get answers(): Answers {
    return (this.#answers ??= new Answers(this))
  }

  /** Passes answers as given to the tools that wait for them. */
  answered(drafts: Parameters<Answers['take']>[0]): void {
    this.#answers?.take(drafts)
  }

  ask(...[key, question, wrongIn, signal]: Parameters<AgentPorts['ask']>): Promise<Answer> {
    const answer = this.answers.wait(question, wrongIn, signal)
    this.#agent.machine.tell({ type: 'ask', key, question, at: this.clock.now() })
    return answer
  }

  approve(...[key, request, signal]: Parameters<AgentPorts['approve']>): ReturnType<AgentPorts['approve']> {
    const decision = this.answers.waitForApproval(request.key, signal)
    const bare = this.redactor?.value(request) ?? request
    this.#agent.machine.tell({ type: 'ask.approval', key, request: bare, at: this.clock.now() })
    return decision
  }

  replyStarted(key: string): void {
    this.#agent.machine.tell({ type: 'reply.started', key })
  }

  replyReplaced(...[key, failure, next]: Parameters<AgentPorts['replyReplaced']>): void {
    this.#agent.machine.tell({ type: 'reply.replaced', key, failure, next })
  }

  /** Stores changes to the rules that always hold. */
  keepRules(): void {
    keepRules(this)
  }

  get deadline(): number | null {
    return this.#agent.machine.context.run?.deadline ?? null
  }

  get parts(): PartStates {
    return this.#agent.machine.context.parts
  }

  sleep(key: string, until: number, goesOn?: true): void {
    const more = goesOn === undefined ? {} : { goesOn }
    this.#agent.machine.tell({ type: 'sleep', key, until, ...more, at: this.clock.now() })
  }

  record(records: readonly PartDraft[]): void {
    const bare = this.redactor?.value(records) ?? records
    this.#agent.machine.tell({ type: 'record', records: bare, at: this.clock.now() })
  }

  policyFired(...[key, start]: Parameters<AgentPorts['policyFired']>): void {
    this.#agent.machine.tell({ type: 'policy.fired', key, start, at: this.clock.now() })
  }

  /** Joins a group that passes the failures of one agent on to the others, if `braking.lessons` is on. */
  joinGroup(group: SharedLessons): void {
    const { definition, conversation: source } = this
    if (definition.braking?.lessons == null) return
    const ignores = (tool: string): boolean => isIgnored(this.definition, tool)
    this.group = new GroupMember(group, { name: definition.name, source, ignores })
  }

  get lessonOfOthers(): AgentPorts['lessonOfOthers'] {
    const { group } = this
    return group === undefined ? undefined : (call) => group.find(call)
  }

  emit(body: LiveBody): void {
    this.#agent.announcer.emit(body)
  }

  requested(...request: Parameters<AgentPorts['requested']>): void {
    this.#agent.announcer.request(...request)
  }

  delta(...piece: Parameters<AgentPorts['delta']>): void {
    this.#agent.announcer.delta(...piece)
  }

  warn(at: TurnPlace, message: string): void {
    this.#agent.announcer.notices.warn(at, message)
  }
}

type Waiter = Pick<TreeAgent, 'agentId' | 'path' | 'shared' | 'machine' | 'announcer' | 'metadata'> & {
  readonly shared: { readonly modelTurns?: string | undefined }
}

/** Returns the name of the group with which an agent takes turns; `undefined` if it takes turns by itself. */
function turnsOf({ metadata, shared: { modelTurns } }: Waiter): string | undefined {
  const value = modelTurns === undefined ? undefined : metadata?.[modelTurns]
  return value === undefined ? undefined : `${modelTurns} ${String(value)}`
}

/** Waits of one agent for models, within the limits of the runtime. */
class ModelWaits {
  readonly #agent: Waiter
  readonly #limited: LimitedModels
  /** Id of the model that the agent waits for. */
  model: string | null = null

  constructor(agent: Waiter, limited: LimitedModels) {
    this.#agent = agent
    this.#limited = limited
  }

  gate(tokens: number | undefined): Gate {
    const { agentId, path, machine, announcer } = this.#agent
    return this.#limited({
      root: turnsOf(this.#agent) ?? path[0] ?? agentId,
      tokens,
      waits: (model, why, ahead) => {
        const { at } = machine
        this.model = model
        announcer.emit({ type: 'model.waiting', ...at, model, why, ahead })
        return (ms) => {
          this.model = null
          if (ms !== undefined) announcer.emit({ type: 'model.waited', ...at, model, ms })
        }
      },
    })
  }
}
