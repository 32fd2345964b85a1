import type { FollowedAgent } from '../model/followedAgent.ts'
import { formatCompact, formatCost, formatCount, formatDuration, formatShare } from '../model/numbers.ts'
import { trunkTokens } from '../model/trunkTokens.ts'
import { Sparkline } from '../parts/sparkline.tsx'
import { StateDot } from '../parts/stateDot.tsx'

/** Runs shown; older ones are summed up in the total. */
const mostRuns = 20

/** What the agent used: tokens, the share the provider's cache answered, cost, run by run. */
export function UsagePanel({ view }: { readonly view: FollowedAgent }) {
  const { spent, session, conversation } = view.state.value
  const { usage, costUsd, turns } = spent
  const read = usage.input + usage.cacheRead + usage.cacheWrite
  const runs = session.runs.slice(-mostRuns).toReversed()
  const perTurn = trunkTokens(session)
  return (
    <section class="details-part" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <dl class="facts number">
        <div>
          <dt>In</dt>
          <dd title={formatCount(read)}>{formatCompact(read)}</dd>
        </div>
        <div>
          <dt>Out</dt>
          <dd title={formatCount(usage.output)}>{formatCompact(usage.output)}</dd>
        </div>
        <div>
          <dt>From cache</dt>
          <dd>{read === 0 ? '–' : formatShare(usage.cacheRead / read)}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{formatCost(costUsd)}</dd>
        </div>
        <div>
          <dt>Turns</dt>
          <dd>{formatCount(turns)}</dd>
        </div>
        <div>
          <dt>Trunk now</dt>
          <dd title={`${formatCount(conversation.tokens)} tokens, estimated`}>{formatCompact(conversation.tokens)}</dd>
        </div>
      </dl>
      {perTurn.length < 2 ? null : (
        <figure>
          <Sparkline
            values={perTurn}
            label={`Tokens read a turn, over ${perTurn.length} turns: from ${formatCount(perTurn[0]!)} to ${formatCount(perTurn.at(-1)!)}, at most ${formatCount(Math.max(...perTurn))}`}
          />
          <figcaption class="faint small">Tokens the model read, turn by turn</figcaption>
        </figure>
      )}
      {runs.length === 0 ? null : (
        <table class="runs number">
          <caption class="hidden">Runs, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Turns</th>
              <th scope="col">Tokens</th>
              <th scope="col">Time</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id} title={run.error?.message ?? `${run.id}: ${run.cause}`}>
                <th scope="row">
                  <StateDot state={run.status} /> {run.status}
                </th>
                <td>{run.turns.length}</td>
                <td>
                  {formatCompact(run.usage.input + run.usage.output + run.usage.cacheRead + run.usage.cacheWrite)}
                </td>
                <td>{run.endedAt === undefined ? '…' : formatDuration(run.endedAt - run.startedAt)}</td>
                <td>{formatCost(run.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {session.runs.length > mostRuns ? (
        <p class="faint small">{formatCount(session.runs.length - mostRuns)} earlier runs are in the total.</p>
      ) : null}
    </section>
  )
}
