import { createHash } from 'node:crypto'

/** The header in which the engine names the agent of a request. */
export const agentHeader = 'x-restate-service-key'

/** How many times its share of requests a worker takes: agents wait for models most of the time, so one may well have more than others. */
const mostOverShare = 3

/** A worker that may be chosen. */
interface Candidate {
  readonly url: string
  /** Requests under way. */
  readonly open: number
}

/**
 * Chooses the worker of a request: for an agent always the same one, where it is in memory, unless that has several times its share of the requests under
 * way; then the next in an order of the agent's own. When a worker comes or goes, only its agents move. Without an agent it is the worker with the
 * fewest requests. Pure.
 */
export function placeRequest<C extends Candidate>(agentId: string | undefined, workers: readonly C[]): C | undefined {
  if (agentId === undefined) return workers.toSorted((one, other) => one.open - other.open)[0]
  const total = workers.reduce((sum, { open }) => sum + open, 1)
  const share = Math.ceil((mostOverShare * total) / workers.length)
  return workers
    .map((worker) => ({ worker, rank: rankOf(agentId, worker.url) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
    .find(({ worker }) => worker.open < share)?.worker
}

const rankOf = (agentId: string, url: string): string => createHash('sha1').update(`${agentId}\n${url}`).digest('hex')
