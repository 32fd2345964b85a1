import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import type { MakeChange } from '../../machines/change.ts'

/** The arguments of guards and mappers. */
export interface Subject {
  readonly context: object
  readonly event: ChartEvent
}

export interface ChartEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** One step of a transition. */
export type Operation =
  | { readonly type: 'change'; readonly change: MakeChange<object, ChartEvent> }
  | { readonly type: 'act'; readonly name: string; readonly params?: unknown }
  /** Starts an `invoke`; `input` is a value or a function that returns it. */
  | { readonly type: 'start'; readonly src: string; readonly id: string; readonly input: unknown }
  | { readonly type: 'stop'; readonly id: string }

/** XState's internal form of an action. */
interface MadeAction {
  readonly type?: string
  readonly params?: unknown
  readonly change?: MakeChange<object, ChartEvent>
}

/** Converts a chart's action; `undefined` if the planner does not support it. */
export function operationOf(action: unknown): Operation | undefined {
  if (typeof action === 'string') return { type: 'act', name: action }
  const { type, params, change } = action as MadeAction
  if (change !== undefined) return { type: 'change', change }
  const isNamed = typeof action === 'object' && type !== undefined && !type.startsWith('xstate.')
  return isNamed && typeof params !== 'function' ? { type: 'act', name: type, params } : undefined
}

/** One transition out of one configuration: its operations in order, and the next configuration. */
export interface Plan {
  readonly guard: ((subject: Subject) => boolean) | undefined
  readonly operations: readonly Operation[]
  readonly next: Configuration
  /** Operations left to do if the transition ends the machine; `undefined` if it does not. */
  readonly final: readonly Operation[] | undefined
}

type Transition = Pick<AnyTransitionDefinition, 'source' | 'target' | 'guard' | 'actions' | 'reenter'>

/** The active states, from the root to the innermost, with their outgoing transitions, each planned on first use. */
export class Configuration {
  readonly nodes: AnyStateNode[]
  readonly value: unknown
  readonly tags: Set<string>
  readonly #planned: (transitions: readonly Transition[]) => Plan[]
  readonly #byEvent = new Map<string, readonly Plan[]>()
  #always: readonly Plan[] | undefined

  constructor(leaf: AnyStateNode, plan: (nodes: readonly AnyStateNode[], transition: Transition) => Plan) {
    const nodes = [...ancestorsOf(leaf).toReversed(), leaf]
    this.nodes = nodes
    this.value = nodes.slice(1, -1).reduceRight<unknown>((inner, { key }) => ({ [key]: inner }), leaf.key)
    this.tags = new Set(nodes.flatMap(({ tags }) => tags))
    this.#planned = (transitions) => transitions.map((transition) => plan(nodes, transition))
  }

  /** The transitions for an event, in order of precedence. */
  on(type: string): readonly Plan[] {
    let plans = this.#byEvent.get(type)
    if (plans === undefined) {
      plans = this.nodes.toReversed().flatMap((node) => this.#planned(candidates(node, type)))
      this.#byEvent.set(type, plans)
    }
    return plans
  }

  /** The transitions that need no event, in order of precedence. */
  get always(): readonly Plan[] {
    return (this.#always ??= this.nodes.toReversed().flatMap((node) => this.#planned(node.always ?? [])))
  }
}

export interface ChartPlans {
  /** Plan of the initial transition. */
  readonly initial: Plan
  /** Returns the configuration whose innermost state is `leaf`. */
  at(leaf: AnyStateNode): Configuration
}

/** Returns the plans of a chart; `undefined` if it uses an unsupported feature such as parallel states, history or delays. */
export function planChart({ root, config, implementations }: AnyStateMachine): ChartPlans | undefined {
  const configurations = new Map<AnyStateNode, Configuration>()
  const at = (leaf: AnyStateNode): Configuration => {
    let configuration = configurations.get(leaf)
    if (configuration === undefined) configurations.set(leaf, (configuration = new Configuration(leaf, plan)))
    return configuration
  }
  const guardOf = ({ guard }: Transition): Plan['guard'] =>
    (typeof guard === 'string' ? implementations.guards[guard] : guard) as Plan['guard']
  const known = (actions: readonly unknown[]): Operation[] => actions.map((action) => operationOf(action)!)

  const plan = (nodes: readonly AnyStateNode[], transition: Transition): Plan => {
    const own = known(transition.actions)
    const guard = guardOf(transition)
    const [target] = transition.target ?? []
    if (target === undefined) return { guard, operations: own, next: at(nodes.at(-1)!), final: undefined }
    const { exits, enters, leaf } = pathOf(nodes, transition, target)
    const operations = [
      ...exits.flatMap(({ exit, invoke }) => [
        ...known(exit),
        ...invoke.map(({ id }) => ({ type: 'stop', id }) as const),
      ]),
      ...own,
      ...enters.flatMap(({ entry, invoke }) => [...known(entry), ...invoke.map(startOf)]),
    ]
    const next = at(leaf)
    const final = leaf.type === 'final' ? next.nodes.toReversed().flatMap(({ exit }) => known(exit)) : undefined
    return { guard, operations, next, final }
  }

  const isKnown = (action: unknown): boolean => operationOf(action) !== undefined
  const isPlannable = (node: AnyStateNode): boolean => {
    const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
    const isPlain =
      node.type === 'atomic' ||
      (node.type === 'compound' && node.initial.actions.length === 0) ||
      (node.type === 'final' && node.parent === root)
    return (
      isPlain &&
      [...node.entry, ...node.exit, ...transitions.flatMap(({ actions }) => actions)].every(isKnown) &&
      node.invoke.every(isPlainInvoke) &&
      transitions.every(({ target }) => (target?.length ?? 0) <= 1) &&
      transitions.every(({ guard }) => guard === undefined || isPlainGuard(guardOf({ guard } as Transition))) &&
      Object.values(node.states).every(isPlannable)
    )
  }
  if (typeof config.context !== 'function' || root.invoke.length > 0 || !isPlannable(root)) return undefined
  const entry = { source: root, target: root.initial.target, guard: undefined, actions: [], reenter: true }
  return { initial: plan([], entry as unknown as Transition), at }
}

/** True unless XState built the guard from others (`and`, `or`, `not`). */
const isPlainGuard = (guard: unknown): boolean => typeof guard === 'function' && !('check' in guard)

const isPlainInvoke = ({ src, onSnapshot, systemId }: AnyStateNode['invoke'][number]): boolean =>
  typeof src === 'string' && onSnapshot === undefined && systemId === undefined

const startOf = ({ src, id, input }: AnyStateNode['invoke'][number]): Operation => ({
  type: 'start',
  src: src as string,
  id,
  input,
})

/** Returns true if a node is a descendant of another. As in XState, every node is a descendant of `undefined`. */
function isInside(node: AnyStateNode, outer: AnyStateNode | undefined): boolean {
  let at = node
  while (at.parent !== undefined && at.parent !== outer) at = at.parent
  return at.parent === outer
}

function ancestorsOf(node: AnyStateNode): AnyStateNode[] {
  const ancestors: AnyStateNode[] = []
  for (let at = node.parent; at !== undefined; at = at.parent) ancestors.push(at)
  return ancestors
}

/** Returns the exit set (innermost first) and entry set (outermost first) of a transition, as in SCXML. */
function pathOf(nodes: readonly AnyStateNode[], { source, reenter }: Transition, target: AnyStateNode) {
  const common = ancestorsOf(target).find((node) => isInside(source, node))
  const staysInside = !reenter && (target === source || isInside(target, source))
  const domain = staysInside ? source : (common ?? (reenter ? undefined : nodes[0]))
  const exits = nodes.filter((node) => isInside(node, domain) || (reenter && source === domain && node === domain))
  const enters = new Set<AnyStateNode>()
  if (source !== target || source !== domain || reenter) enters.add(target)
  let leaf = target
  while (leaf.type === 'compound') enters.add((leaf = leaf.initial.target[0]!))
  if (target !== domain) for (let at = target.parent; at !== undefined && at !== domain; at = at.parent) enters.add(at)
  return {
    exits: exits.toSorted((a, b) => b.order - a.order),
    enters: [...enters].toSorted((a, b) => a.order - b.order),
    leaf,
  }
}

/** Returns the transitions for an event type: for the exact type first, then wildcards from most to least specific. */
function candidates(node: AnyStateNode, type: string): readonly Transition[] {
  const wild = [...node.transitions.keys()]
    .filter((descriptor) => descriptor !== type && isMatch(type, descriptor))
    .toSorted((a, b) => b.length - a.length)
  return [type, ...wild].flatMap((descriptor) => node.transitions.get(descriptor) ?? [])
}

const isMatch = (type: string, descriptor: string): boolean =>
  descriptor === '*' || (descriptor.endsWith('.*') && `${type}.`.startsWith(descriptor.slice(0, -1)))
