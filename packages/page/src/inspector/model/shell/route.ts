import { standings, type Standing } from '../../../../../charts/src/standing.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId, isAgentId, parseNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { oneLine } from '../words/shortText.ts'

/** Views that the middle of the page can show. */
export const viewNames = ['conversation', 'chart', 'timeline', 'requests', 'context'] as const
export type ViewName = (typeof viewNames)[number]

/** Forms of the timeline: bars on an axis of time, or every event in a list. */
export const timelineLooks = ['bars', 'log'] as const
export type TimelineLook = (typeof timelineLooks)[number]

/** Forms of the chart: its outermost states, all of it, or the calls between the agents of the tree. */
export const chartLooks = ['overview', 'full', 'actors'] as const
export type ChartLook = (typeof chartLooks)[number]

/** Content of the page, as given by its address. */
export interface Route {
  readonly agent: string | null
  /** A machine that is kept, instead of an agent. */
  readonly host: string | null
  readonly node: NodeId | null
  readonly view: ViewName
  /** `seq` of a moment; `null`: the newest. */
  readonly at: number | null
  /** Index of the turn of a request; the address has its number, which is one more. */
  readonly turn: number | null
  /** Form of the timeline. */
  readonly as: TimelineLook
  /** Form of the chart. */
  readonly look: ChartLook
  /** Standings of the agents on the overview; empty: all. */
  readonly show: readonly Standing[]
  /** Query of a search; `null`: none. */
  readonly q: string | null
  /** The agent that the one shown is compared with. */
  readonly with: string | null
}

export const emptyRoute: Route = {
  agent: null,
  host: null,
  node: null,
  view: 'conversation',
  at: null,
  turn: null,
  as: 'bars',
  look: 'overview',
  show: [],
  q: null,
  with: null,
}

/** Longest query in an address, in UTF-16 units. */
const mostQuery = 1_000

/** An address as it was read, and the parts that make no sense. */
export interface ReadRoute {
  readonly route: Route
  /** Token in the address, which is given once and then removed from it. */
  readonly token: string | null
  readonly problems: readonly string[]
}

const wholeNumber = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null)

/** Returns the index of a turn by the number that people read: the first one is 1. */
const turnNumbered = (text: string): number | null => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) - 1 : null)

function standingsIn(text: string): readonly Standing[] | null {
  const named = text.split(',')
  const known = standings.filter((standing) => named.includes(standing))
  return known.length === new Set(named).size ? known : null
}

/** Reads the part of an address after the `#`. Never throws: parts that make no sense are left out and named. Pure. */
export function readRoute(hash: string): ReadRoute {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const problems: string[] = []
  const read = <T>(name: string, parse: (text: string) => T | null | undefined, wanted: string): T | null => {
    const text = given.get(name)
    if (text === null || text === '') return null
    const value = parse(text) ?? null
    if (value === null) problems.push(`"${name}=${oneLine(text, 60)}" in the address is not ${wanted}.`)
    return value
  }
  const route: Route = {
    agent: read('agent', (text) => (isAgentId(text) ? text : undefined), 'the id of an agent'),
    host: given.has('agent')
      ? null
      : read('host', (text) => (isAgentId(text) ? text : undefined), 'the id of a machine'),
    node: read('node', parseNodeId, 'a node such as n12'),
    view:
      read('view', (text) => viewNames.find((name) => name === text), `one of ${viewNames.join(', ')}`) ??
      'conversation',
    at: read('at', wholeNumber, 'the number of a record'),
    turn: read('turn', turnNumbered, 'the number of a turn'),
    as:
      read('as', (text) => timelineLooks.find((name) => name === text), `one of ${timelineLooks.join(', ')}`) ?? 'bars',
    look:
      read('look', (text) => chartLooks.find((name) => name === text), `one of ${chartLooks.join(', ')}`) ?? 'overview',
    show: read('show', standingsIn, `some of ${standings.join(', ')}`) ?? [],
    q: read('q', (text) => text.slice(0, mostQuery), 'text'),
    with: read('with', (text) => (isAgentId(text) ? text : undefined), 'the id of an agent'),
  }
  return { route, token: given.get('token'), problems }
}

/** Writes the address of a route, from the `#` on; empty for the empty route. Pure. */
export function formatRoute({ agent, host, node, view, at, turn, as, look, show, q, with: other }: Route): string {
  if (agent === null && host !== null) return `#host=${encodeURIComponent(host)}`
  if (agent === null) return show.length === 0 ? '' : `#show=${show.join(',')}`
  const parts = new URLSearchParams({ agent })
  if (node !== null) parts.set('node', formatNodeId(node))
  if (view !== 'conversation') parts.set('view', view)
  if (at !== null) parts.set('at', String(at))
  if (turn !== null && view === 'requests') parts.set('turn', String(turn + 1))
  if (as !== 'bars' && view === 'timeline') parts.set('as', as)
  if (look !== 'overview' && view === 'chart') parts.set('look', look)
  if (q !== null && q !== '') parts.set('q', q)
  if (other !== null) parts.set('with', other)
  return `#${parts.toString()}`
}
