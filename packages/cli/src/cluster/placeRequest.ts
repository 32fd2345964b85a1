import { createHash } from 'node:crypto'

/** The header in which the engine names the agent of a request. */
export const agentHeader = 'x-restate-service-key'

/** Factor by which a worker may exceed its share of requests. Agents mostly wait for models, so a worker may well have more than others. */
const mostOverShare = 3

/** A worker that may be chosen. */
interface Candidate {
  readonly url: string
  /** Number of requests in progress. */
  readonly open: number
}

/**
 * Chooses the worker for a request. An agent always gets the same worker, which has it in memory, unless that worker has several times its share of
 * requests. Then it gets the next one in the agent's own order. When a worker comes or goes, only its agents move. Without an agent, the worker with
 * the fewest requests is chosen. Pure.
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
