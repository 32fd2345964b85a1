import type { ChartActor, ChartEdge, ChartModel, ChartNode } from './chartModel.ts'
import { edgeWords, eventWords } from './edgeWords.ts'

/** A state as it is drawn, or a mark: a start, a junction, or a stand-in for any state. */
export interface DrawnNode {
  readonly id: string
  readonly kind: ChartNode['kind'] | 'junction' | 'any' | 'machine'
  readonly label: string
  /** Lines below the state's name: the actors that it runs, and the events that it handles without being left. */
  readonly details: readonly string[]
  /** Outgoing transitions that are written into the box instead of drawn, in the machine's order. */
  readonly exits?: readonly DrawnExit[]
  readonly parent?: string
  /** `inside`: active because a state inside it is. */
  readonly active?: 'itself' | 'inside'
  /** Description of the state in one sentence. */
  readonly description?: string
  /** Brakes of a closed state. */
  readonly brakes?: readonly DrawnBrake[]
}

/** A transition as a line in the box of the state that it leaves. */
export interface DrawnExit {
  /** Id of the target state. */
  readonly to: string
  /** Name of the target state. */
  readonly name: string
  /** Event and guards of the transition: `on abort [isRunning]`. */
  readonly when: string
  readonly style: ArrowStyle
}

/** A brake inside a closed state, by the name of its flag. */
export interface DrawnBrake {
  readonly name: string
  readonly style: 'open' | 'shut' | 'brake'
}

/** `open`, `shut`, `brake` (unknown which): a guarded transition of the braking layer. `runs`: leads to a machine run as an actor. */
export type ArrowStyle = 'plain' | 'start' | 'open' | 'shut' | 'brake' | 'runs'

/** An arrow for the transitions between two states that are drawn alike. */
export interface DrawnArrow {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly lines: readonly string[]
  readonly style: ArrowStyle
  /** Ids of the transitions that the arrow stands for. */
  readonly edges: readonly string[]
}

/** A chart as it is drawn. It has fewer arrows than the chart has edges, but shows every edge. */
export interface ChartDrawing {
  readonly title: string
  /** Parents before their children. */
  readonly nodes: readonly DrawnNode[]
  readonly arrows: readonly DrawnArrow[]
}

/** Returns the style of the arrow of a transition. */
export const styleOf = ({ kind, isBrake, isOpen }: ChartEdge): ArrowStyle => {
  if (kind === 'initial') return 'start'
  if (isBrake !== true) return 'plain'
  return isOpen === undefined ? 'brake' : isOpen ? 'open' : 'shut'
}

/** Words beside the guard of a brake, by the style of its arrow. */
const brakeWords: Readonly<Record<string, string>> = { open: 'brake open', shut: 'brake shut', brake: 'brake' }

/** Returns the drawing of a chart, with the machines that the chart runs beside it. Pure. */
export function chartDrawing(model: ChartModel): ChartDrawing {
  const charts = [model, ...model.machines].map((chart, index) => drawOne(chart, index === 0 ? '' : `${chart.id}/`))
  const nodes = charts.flatMap((chart) => chart.nodes)
  const arrows = charts.flatMap((chart) => chart.arrows)
  const roots = [model, ...model.machines]
  const runs = roots.flatMap((chart, index) =>
    chart.actors.flatMap(({ machine, src, id, kind, state }): DrawnArrow[] => {
      const at = roots.findIndex((other) => other.id === machine)
      // A machine that contains the whole chart again only says so.
      if (at <= 0) return []
      const scope = index === 0 ? '' : `${chart.id}/`
      const from = scope + (kind === 'spawned' ? chart.id : state)
      const to = `${roots[at]!.id}/${roots[at]!.id}`
      return [{ id: `runs ${scope}${id}`, from, to, lines: [`runs ${src}`], style: 'runs', edges: [] }]
    }),
  )
  return { title: model.title, nodes, arrows: [...arrows, ...runs] }
}

interface Way {
  readonly from: string
  readonly to: string
  readonly edge: ChartEdge
}

function drawOne(chart: ChartModel, scope: string): { nodes: DrawnNode[]; arrows: DrawnArrow[] } {
  const marks: DrawnNode[] = []
  const parents = new Map(chart.nodes.map(({ id, parent }) => [id, parent]))
  const moving = chart.edges.filter(({ isInternal }) => isInternal !== true)
  const anywhere = (id: string): string => {
    const mark = `${scope}(any) ${id}`
    if (!marks.some((other) => other.id === mark))
      marks.push({ id: mark, kind: 'any', label: 'any state', details: [], parent: scope + id })
    return mark
  }
  const ways = moving.map((edge): Way => {
    const isInside = edge.to !== edge.from && lineage(parents, edge.to).includes(edge.from)
    return { from: isInside ? anywhere(edge.from) : scope + edge.from, to: scope + edge.to, edge }
  })
  const { joined, junctions } = joinExits(ways, parents, scope)
  const nodes = chart.nodes.map((node) => drawnNode(node, chart, scope))
  return { nodes: [...nodes, ...marks, ...junctions], arrows: arrowsOf(joined, chart.detail === 'overview') }
}

/** Returns a state and the states around it, innermost first. */
function lineage(parents: ReadonlyMap<string, string | undefined>, id: string): string[] {
  const line = [id]
  for (let at = parents.get(id); at !== undefined; at = parents.get(at)) line.push(at)
  return line
}

function drawnNode(node: ChartNode, chart: ChartModel, scope: string): DrawnNode {
  const isRoot = node.parent === undefined
  const active = chart.active.includes(node.id)
    ? 'itself'
    : chart.active.some((id) => isRoot || id.startsWith(`${node.id}.`))
      ? 'inside'
      : undefined
  return {
    id: scope + node.id,
    kind: isRoot ? 'machine' : node.kind,
    label: isRoot && scope === '' && chart.title !== chart.id ? `${chart.title} (${chart.id})` : node.label,
    details: detailsOf(node, chart),
    ...(node.parent === undefined ? {} : { parent: scope + node.parent }),
    ...(node.description === undefined ? {} : { description: node.description }),
    ...(active === undefined || node.kind === 'initial' ? {} : { active }),
  }
}

function detailsOf(node: ChartNode, { actors, edges }: ChartModel): string[] {
  const own = actors.filter(({ state }) => state === node.id)
  const verbs: Readonly<Record<ChartActor['kind'], string>> = { invoked: 'runs', spawned: 'spawns' }
  const lines = (['invoked', 'spawned'] as const).flatMap((kind) => {
    const names = own.filter((actor) => actor.kind === kind).map(({ src }) => src)
    return names.length === 0 ? [] : [`${verbs[kind]} ${[...new Set(names)].join(', ')}`]
  })
  // Without a guard, and of the states themselves: those of the machine are in nobody's way.
  const kept = edges.filter((edge) => edge.isInternal === true && edge.from === node.id && edge.guards.length === 0)
  const events = kept.filter(({ kind }) => kind === 'event').map(eventWords)
  if (node.parent !== undefined && events.length > 0) lines.push(`takes ${[...new Set(events)].join(', ')}`)
  return lines
}

/** Joins the exits of states that leave by the same guards to the same targets in one junction. */
function joinExits(
  ways: readonly Way[],
  parents: ReadonlyMap<string, string | undefined>,
  scope: string,
): { joined: readonly Way[]; junctions: DrawnNode[] } {
  const keyOf = ({ to, edge }: Way): string =>
    JSON.stringify([parents.get(edge.from), to, edge.event, edge.kind, edge.guards])
  const sources = new Map<string, Way[]>()
  for (const way of ways) if (way.edge.kind !== 'initial') bucket(sources, keyOf(way)).push(way)
  // Exits that the very same siblings share make one group.
  const groups = new Map<string, Way[][]>()
  for (const same of sources.values()) {
    if (same.length < 2 || same.some(({ edge }) => edge.isBrake === true)) continue
    bucket(groups, JSON.stringify(same.map(({ from }) => from))).push(same)
  }
  const junctions: DrawnNode[] = []
  const gone = new Set<Way>()
  const added: Way[] = []
  for (const same of groups.values()) {
    const targets = new Set(same.map(([first]) => first!.to))
    if (targets.size < 3) continue
    const parent = parents.get(same[0]![0]!.edge.from)!
    const id = `${scope}(junction) ${parent} ${junctions.length}`
    junctions.push({ id, kind: 'junction', label: '', details: [], parent: scope + parent })
    for (const way of same[0]!) {
      const edge: ChartEdge = { ...way.edge, id: `${way.edge.id} join`, event: '', kind: 'always', guards: [] }
      added.push({ from: way.from, to: id, edge })
    }
    for (const [first] of same) added.push({ ...first!, from: id })
    for (const way of same.flat()) gone.add(way)
  }
  return { joined: [...ways.filter((way) => !gone.has(way)), ...added], junctions }
}

function bucket<T>(map: Map<string, T[]>, key: string): T[] {
  const known = map.get(key)
  if (known !== undefined) return known
  const made: T[] = []
  map.set(key, made)
  return made
}

function arrowsOf(ways: readonly Way[], isOverview: boolean): DrawnArrow[] {
  const between = new Map<string, Way[]>()
  for (const way of ways) bucket(between, JSON.stringify([way.from, way.to, styleOf(way.edge)])).push(way)
  return [...between.values()].map((same) => {
    const { from, to, edge } = same[0]!
    return {
      id: `${from} → ${to} ${styleOf(edge)}`,
      from,
      to,
      lines: isOverview ? wordsOf(same) : linesOf(same),
      style: styleOf(edge),
      edges: same.map(({ edge: { id } }) => id),
    }
  })
}

/** Returns the words of the transitions, without duplicates. */
function wordsOf(ways: readonly Way[]): string[] {
  const brake = brakeWords[styleOf(ways[0]!.edge)]
  return [...new Set([...ways.map(({ edge }) => edgeWords(edge)), brake ?? ''])].filter(Boolean)
}

/** Returns one line for each guard, with the events that lead to it. */
function linesOf(ways: readonly Way[]): string[] {
  const events = new Map<string, string[]>()
  for (const { edge } of ways) {
    const guard = edge.guards.map((name) => `[${name}]`).join(' ')
    const said = bucket(events, guard)
    const event = eventWords(edge)
    if (event !== '' && !said.includes(event)) said.push(event)
  }
  const lines = [...events].map(([guard, said]) => [said.join(', '), guard].filter(Boolean).join(' '))
  const brake = brakeWords[styleOf(ways[0]!.edge)]
  return [...lines, ...(brake === undefined ? [] : [brake])].filter(Boolean)
}
