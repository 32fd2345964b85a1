import type { Snapshot } from 'xstate'
import { nanoid } from 'nanoid'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { EventsOf } from '../../../src/actors/define/typedEvents.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { LocalRuntime } from '../../../src/runtime/runtime.ts'
import {
  blank,
  checkInput,
  isCommand,
  persisted,
  restored,
  type AgentLogicEvent,
  type AgentLogicInput,
  type AgentSnapshot,
} from './agentSnapshot.ts'
import { isAgentLogic } from './hosts/actorKinds.ts'
import { actorHosts } from './hosts/durable.ts'
import { commandInStep, mostAgents, nameInStep, stepNow } from './hosts/naming.ts'
import { Life, Update } from './life.ts'

export interface AgentLogicOptions<Deps = unknown> {
  /**
   * Fate of the agent when its actor is done, or is stopped before that: `abort` (the default) closes the agent and aborts its work; `suspend`
   * ends it without a record in its log, as if the process had ended, so that a restored actor continues where it was; `leave` lets it continue
   * without the actor. An agent that ran before the actor came is always left.
   */
  readonly onStop?: 'abort' | 'suspend' | 'leave'
  /** Types of the agent's events that are also sent to the parent, as its own events. Not meant for deltas, which cost the parent 4 µs each. */
  readonly tell?: readonly AgentEvent['type'][]
  /** Dependencies of the agent's tools, or a function of the agent's id; `deps` of the input take precedence. */
  readonly deps?: Deps | ((agentId: string) => Deps)
  /** Minimum interval, in milliseconds, between updates of the snapshot's `text` while deltas arrive. Default 16. */
  readonly textMs?: number
}

/** Part of an actor's scope that is used. Declared here, because XState's own types would fit only one copy of XState. */
interface Scope<Event> {
  readonly self: object
  readonly system: object
  emit(event: Event): void
}

/**
 * The logic of an agent's actor, for `invoke`, `spawn`, `createActor` and `setup({ actors })`. Its input is an
 * `AgentLogicInput`, its events are an agent's commands, its snapshot an `AgentSnapshot`; it emits the agent's events
 * (`Event`; events of calls are distinguished by the names of its tools), and its output is the run's result.
 */
export interface AgentLogic<Output = unknown, Deps = unknown, Event = AgentEvent> {
  /** Identity of the logic, one for each definition: React makes another actor when it changes. */
  config?: unknown
  transition(snapshot: AgentSnapshot<Output>, event: AgentLogicEvent, scope: Scope<Event>): AgentSnapshot<Output>
  getInitialSnapshot(scope: Scope<Event>, input: AgentLogicInput<Deps> | undefined): AgentSnapshot<Output>
  restoreSnapshot(persisted: Snapshot<unknown>, scope: Scope<Event>): AgentSnapshot<Output>
  start(snapshot: AgentSnapshot<Output>, scope: Scope<Event>): void
  getPersistedSnapshot(snapshot: AgentSnapshot<Output>): Snapshot<unknown>
}

const isAny = (): boolean => true
const isFunction = <T>(value: unknown): value is (agentId: string) => T => typeof value === 'function'

const optionsSchema = lazily(() =>
  onlyFields({
    onStop: z.enum(['abort', 'suspend', 'leave']),
    tell: z.array(z.string()),
    deps: z.custom(isAny),
    textMs: z.number().nonnegative(),
  }).partial(),
)

const configs = new WeakMap<AgentDefinition, object>()

function configOf(definition: AgentDefinition): object {
  const config = configs.get(definition) ?? { id: definition.name }
  configs.set(definition, config)
  return config
}

/** The `Life` of each running actor. An entry is replaced when the same actor is started again. */
const lives = new WeakMap<object, Life>()

/**
 * An agent as the logic of an XState actor: the agent starts and ends with the actor, and its own actors are below it. Works with every copy
 * of XState from 5.20 on.
 *
 * With a `prompt` in its input the actor is a task, done with the run's result; without one it is a conversation that takes commands. With an
 * `id` that has a log the agent continues from there. The actor attaches to an agent with this id that is already running.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION`; a fault of the input, or one that keeps the agent from starting, is the
 * actor's error.
 *
 * @example
 * ```ts
 * import { createActor, toPromise } from 'xstate'
 * import { agentLogic } from 'escapement/xstate'
 *
 * const actor = createActor(agentLogic(runtime, coder), { input: { prompt: 'Fix the failing test' } })
 * actor.on('reply.delta', ({ text }) => process.stdout.write(text))
 * const { stopReason } = await toPromise(actor.start())
 * ```
 */
export function agentLogic<Output = unknown, Deps = unknown, Calls = unknown>(
  runtime: AgentRuntime,
  definition: AgentDefinition<Output, Deps, Calls>,
  options: AgentLogicOptions<Deps> = {},
): AgentLogic<Output, Deps, EventsOf<Calls>> {
  if (!(runtime instanceof LocalRuntime))
    throw new RuntimeError('INVALID_OPTION', 'agentLogic: give the runtime that createRuntime returned.')
  if (!isAgentDefinition(definition))
    throw new RuntimeError('INVALID_DEFINITION', 'agentLogic takes what defineAgent returns.')
  checkedBy(optionsSchema(), options, 'agentLogic')
  const { onStop = 'abort', tell = [], textMs = 16, deps } = options
  /** Dependencies that came with an actor's input, by actor. In a snapshot they would be persisted. */
  const given = new WeakMap<object, Deps>()
  const depsOf = (agentId: string, actor: object): Deps | undefined =>
    given.get(actor) ?? (isFunction(deps) ? deps(agentId) : deps)
  const told = new Set<string>(tell)
  const plan = { runtime, definition: definition as AgentDefinition, onStop, tell: told, textMs, depsOf }
  // In a hosted machine ids are the same whenever a step is taken again.
  const newId = (): string => nameInStep() ?? nanoid(12)

  return isAgentLogic<AgentLogic<Output, Deps, EventsOf<Calls>>>({
    config: configOf(plan.definition),
    getInitialSnapshot: ({ self }, input) => {
      try {
        countInStep()
        const { agentId, request } = checkInput(definition.name, input, newId)
        if (input?.deps !== undefined) given.set(self, input.deps)
        return { ...blank, status: 'active', agentId, request }
      } catch (error) {
        return { ...blank, status: 'error', error }
      }
    },
    restoreSnapshot: (kept) => {
      try {
        return restored<Output>(kept)
      } catch (error) {
        return { ...blank, status: 'error', error }
      }
    },
    getPersistedSnapshot: persisted,
    start: (snapshot, scope) => {
      if (snapshot.status !== 'active') return
      const life = new Life(plan, snapshot, scope)
      lives.set(scope.self, life)
      actorHosts.get(scope.system)?.follow(life)
    },
    transition: (snapshot, event, { self, system }) => {
      if (snapshot.status !== 'active') return snapshot
      const life = lives.get(self)
      const received: unknown = event
      if (received instanceof Update) return { ...snapshot, ...received.change } as AgentSnapshot<Output>
      if ((event.type as string) === 'xstate.stop') {
        life?.stop()
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined }
      }
      if (!isCommand(event)) return snapshot
      const host = actorHosts.get(system)
      const requestId = host === undefined ? undefined : commandInStep()
      if (host !== undefined && requestId !== undefined && life !== undefined) {
        host.owe(life.give(event, requestId))
        return snapshot
      }
      if (life?.say(event) === true) return snapshot
      return { ...snapshot, queued: [...snapshot.queued, event] }
    },
  })
}

/** Counts an agent of a hosted machine. @throws RuntimeError `MACHINE_REFUSED` for one too many, which is the error of its actor */
function countInStep(): void {
  const step = stepNow()
  if (step === undefined) return
  step.agents += 1
  if (step.agents > mostAgents)
    throw new RuntimeError(
      'MACHINE_REFUSED',
      `Machine "${step.hostId}" has ${mostAgents} agents at work, which is the most.`,
    )
}
