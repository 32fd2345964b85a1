import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { agentMachineId } from '../../../src/machines/agentSetup.ts'
import { guardWords } from './conditionWords.ts'

/** Brakes of an agent. A flag is true while its brake is on. */
export interface BrakeFlags {
  readonly revert: boolean
  readonly prune: boolean
  readonly fold: boolean
  readonly stall: boolean
  readonly policies: boolean
}

/** A state, or the mark at the start of one. */
export interface ChartNode {
  /** Path in the machine: `replying.streaming`. The whole machine has its id, a start mark `(initial) <id>`. */
  readonly id: string
  readonly label: string
  readonly kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'initial' | 'history'
  readonly parent?: string
  readonly description?: string
  /** Named actions on entry. */
  readonly entry?: readonly string[]
}

/** A transition. A transition to several states is one edge for each target. */
export interface ChartEdge {
  readonly id: string
  readonly from: string
  /** Id of the target state, equal to `from` if the state is not left. */
  readonly to: string
  /** Type of the event; empty for `always` and for a start. */
  readonly event: string
  readonly kind: 'event' | 'always' | 'after' | 'done' | 'error' | 'initial'
  /** Names of the guards; all of them must hold. */
  readonly guards: readonly string[]
  /** True if the transition only runs actions, without leaving or entering a state. */
  readonly isInternal?: true
  /** True for a guarded transition of the braking layer. */
  readonly isBrake?: true
  /** True if the brake is open. Set only for a brake whose flags are known. */
  readonly isOpen?: boolean
  /** Condition in words: the description in the machine, or else the one of the guards. */
  readonly description?: string
}

/** An actor that the machine runs. */
export interface ChartActor {
  readonly id: string
  /** Name of the actor's logic. */
  readonly src: string
  /** `invoked`: runs while `state` is active. `spawned`: started by an action; `state` is the whole machine. */
  readonly kind: 'invoked' | 'spawned'
  readonly state: string
  /** Id of the actor's machine, which is in `machines` or is the chart itself. */
  readonly machine?: string
}

/** A complete statechart as plain JSON, always generated from the machine. */
export interface ChartModel {
  /** Id of the machine. */
  readonly id: string
  readonly title: string
  /** `overview`: only the outermost states, closed, and the transitions between them. Default: all of it. */
  readonly detail?: 'overview'
  /** States, parents before children. The first is the whole machine. */
  readonly nodes: readonly ChartNode[]
  /** Transitions in the order in which the machine tries them, state by state. */
  readonly edges: readonly ChartEdge[]
  readonly actors: readonly ChartActor[]
  /** Machines that run as actors at any depth, each once. */
  readonly machines: readonly ChartModel[]
  /** Names of the active states. */
  readonly active: readonly string[]
  readonly brakes?: BrakeFlags
}

/** Options of `chartModel`: the facts of a chart that the machine itself does not hold. */
export interface ChartModelOptions {
  /** Default: the id of the machine. */
  readonly title?: string | undefined
  readonly brakes?: BrakeFlags | undefined
  readonly active?: readonly string[] | undefined
  /** Names of actors that are never started, to be left out. */
  readonly without?: readonly string[] | undefined
}

/** Flags that open a guard of the braking layer: one of them is enough. */
export const brakeGuards: Readonly<Record<string, readonly (keyof BrakeFlags)[]>> = {
  revertEnabled: ['revert'],
  undoPending: ['revert'],
  pruneEnabled: ['prune'],
  foldEnabled: ['fold'],
  stallEnabled: ['stall'],
  consultEnabled: ['policies'],
}

/**
 * Returns the chart of an XState machine. Pure, and without Node, so a page may call it too. Never throws: the
 * caller must check that the active states exist.
 */
export const chartModel = (machine: AnyStateMachine, options: ChartModelOptions = {}): ChartModel =>
  modelOf(machine, options, new Set([machine.id]))

function modelOf(machine: AnyStateMachine, options: ChartModelOptions, seen: Set<string>): ChartModel {
  const { title = machine.id, brakes, active = [], without = [] } = options
  const states = [...statesOf(machine.root as AnyStateNode)]
  const logics = machine.implementations.actors as Readonly<Record<string, unknown>>
  const actors = actorsOf(states, logics, machine.id).filter(({ src }) => !without.includes(src))
  const machines: ChartModel[] = []
  for (const { src } of actors) {
    const inner = machineIn(logics[src])
    if (inner === undefined || seen.has(inner.id)) continue
    seen.add(inner.id)
    const { machines: deeper, ...chart } = modelOf(inner, {}, seen)
    machines.push({ ...chart, machines: [] }, ...deeper)
  }
  return {
    id: machine.id,
    title,
    nodes: states.flatMap((state) => nodesOf(state, machine.id)),
    edges: states.flatMap((state) => edgesOf(state, machine.id, brakes)),
    actors,
    machines,
    active,
    ...(brakes === undefined ? {} : { brakes }),
  }
}

function* statesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states)) yield* statesOf(child)
}

const idOf = (node: AnyStateNode, machineId: string): string => node.path.join('.') || machineId

function nodesOf(state: AnyStateNode, machineId: string): ChartNode[] {
  const id = idOf(state, machineId)
  const parent = state.parent === undefined ? {} : { parent: idOf(state.parent, machineId) }
  const entry = state.entry.flatMap(namesOfAction)
  const { description } = state
  const node: ChartNode = {
    id,
    label: state.path.at(-1) ?? machineId,
    kind: state.type,
    ...parent,
    ...(description === undefined ? {} : { description }),
    ...(entry.length === 0 ? {} : { entry }),
  }
  return state.type === 'compound' ? [node, { id: startOf(id), label: '', kind: 'initial', parent: id }] : [node]
}

const startOf = (id: string): string => `(initial) ${id}`

const namesOfAction = (action: unknown): string[] => {
  if (typeof action === 'string') return [action]
  if (typeof action !== 'object' || action === null || !('type' in action)) return []
  return typeof action.type === 'string' ? [action.type] : []
}

function edgesOf(state: AnyStateNode, machineId: string, brakes: BrakeFlags | undefined): ChartEdge[] {
  const from = idOf(state, machineId)
  const edges: ChartEdge[] = []
  const add = (edge: Omit<ChartEdge, 'id'>): void => void edges.push({ id: `${from}#${edges.length}`, ...edge })
  const start = state.type === 'compound' ? (state.initial?.target ?? []) : []
  for (const target of start) {
    add({ from: startOf(from), to: idOf(target, machineId), event: '', kind: 'initial', guards: [] })
  }
  // Delayed transitions are in `transitions` too, under the event of their timer.
  for (const transition of [...[...state.transitions.values()].flat(), ...(state.always ?? [])]) {
    const shared = {
      from,
      event: transition.eventType,
      kind: kindOf(transition),
      ...guardsOf(transition.guard, brakes),
      ...descriptionOf(transition, machineId),
    }
    if (transition.target === undefined) add({ ...shared, to: from, isInternal: true })
    for (const target of transition.target ?? []) add({ ...shared, to: idOf(target, machineId) })
  }
  return edges
}

function kindOf({ eventType }: AnyTransitionDefinition): ChartEdge['kind'] {
  if (eventType === '') return 'always'
  const [, kind = 'event'] = /^xstate\.(after|done|error)\./.exec(eventType) ?? []
  return kind as 'event' | 'after' | 'done' | 'error'
}

function guardsOf(guard: unknown, brakes: BrakeFlags | undefined): Pick<ChartEdge, 'guards' | 'isBrake' | 'isOpen'> {
  const guards = namesOfGuard(guard)
  const flags = guards.flatMap((name) => (Object.hasOwn(brakeGuards, name) ? brakeGuards[name]! : []))
  if (flags.length === 0) return { guards }
  return { guards, isBrake: true, ...(brakes === undefined ? {} : { isOpen: flags.some((flag) => brakes[flag]) }) }
}

/** Returns the transition's own description, or, in the agent machine, the one of its guards. */
function descriptionOf({ description, guard }: AnyTransitionDefinition, machineId: string): { description?: string } {
  if (description !== undefined) return { description }
  if (machineId !== agentMachineId) return {}
  const words: Readonly<Record<string, string>> = guardWords
  const told = namesOfGuard(guard).map((name) => (Object.hasOwn(words, name) ? words[name]! : name))
  const said = told.filter(Boolean).join(' and ')
  return said === '' ? {} : { description: said }
}

interface GuardLike {
  readonly type?: unknown
  readonly name?: string
  readonly guards?: readonly unknown[]
}

/** Returns the names of the guards that must hold: guards joined by `and` separately, other combinations as one. */
function namesOfGuard(guard: unknown): string[] {
  if (guard === undefined || guard === null) return []
  if (typeof guard === 'string') return [guard]
  const { type, name, guards = [] } = guard as GuardLike
  if (guards.length > 0) {
    const names = guards.map((inner) => namesOfGuard(inner).join(' and '))
    if (name === 'and') return guards.flatMap(namesOfGuard)
    return [name === 'not' ? `not ${names.join(' and ')}` : names.join(` ${name ?? 'and'} `)]
  }
  return [typeof type === 'string' ? type : (name ?? '') || 'guard']
}

function actorsOf(
  states: readonly AnyStateNode[],
  logics: Readonly<Record<string, unknown>>,
  machineId: string,
): ChartActor[] {
  const invoked = states.flatMap((state) =>
    state.invoke.map(({ id, src }): ChartActor => {
      const name = typeof src === 'string' && !src.startsWith('xstate.invoke.') ? src : id
      return { id, src: name, kind: 'invoked', state: idOf(state, machineId), ...machineOf(logics[name]) }
    }),
  )
  const known = new Set(invoked.map(({ src }) => src))
  // An actor that is declared but never invoked is started by an action.
  const spawned = Object.keys(logics)
    .filter((src) => !known.has(src) && !src.startsWith('xstate.invoke.'))
    .map((src): ChartActor => ({ id: src, src, kind: 'spawned', state: machineId, ...machineOf(logics[src]) }))
  return [...invoked, ...spawned]
}

function machineIn(logic: unknown): AnyStateMachine | undefined {
  const isMachine = typeof logic === 'object' && logic !== null && 'root' in logic && 'implementations' in logic
  return isMachine ? (logic as AnyStateMachine) : undefined
}

function machineOf(logic: unknown): { machine?: string } {
  const machine = machineIn(logic)
  return machine === undefined ? {} : { machine: machine.id }
}
