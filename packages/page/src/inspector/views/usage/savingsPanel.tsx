import { useContext, useEffect, useState } from 'preact/hooks'
import { counted, money, whole } from '../../../../../charts/src/amounts.ts'
import {
  rangeWords,
  shareWords,
  savingsNotes,
  tokensWithout,
  unpricedWords,
  usdWithout,
} from '../../../../../charts/src/savingsWords.ts'
import { savingsOfTree, type AgentSavings } from '../../../../../sessions/src/savingsOfTree.ts'
import { treeSavings, type Saved, type Savings } from '../../../../../sessions/src/savings/savings.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { readUpTo } from '../../model/search/readUpTo.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { forDisplay, oneLine } from '../../model/words/shortText.ts'
import { AgentNames } from '../../parts/agentNames.ts'
import { AreaChart } from './areaChart.tsx'
import { Earlier, mostRows } from './earlier.tsx'

/** Spending of the agent, with brakes and without, and the size of each request. */
export function SavingsPanel({ savings }: { readonly savings: Savings }) {
  const { fullAt, ...noted } = savings
  const { sizes, window, spent, unpriced, brakes, byBrakes, isWindowAssumed } = noted
  const last = sizes.at(-1)
  if (last === undefined) return null
  const label = `Size of ${counted(sizes.length, 'request')}: the last ${counted(last.tokens, 'token')}, and ${whole(last.without)} without brakes`
  const without = usdWithout(savings)
  const used = totalTokens(spent.usage)
  return (
    <section aria-labelledby="sizes-title">
      <h2 id="sizes-title">Size of requests</h2>
      <dl class="tiles number">
        <Tile name="Spent" value={spent.costUsd === 0 ? counted(used, 'token') : money(spent.costUsd)}>
          {spent.costUsd === 0 ? '' : counted(used, 'token')}
        </Tile>
        {brakes.length + byBrakes.requests === 0 ? null : (
          <>
            <Tile
              name="Without brakes, at these prices"
              value={without === null ? counted(tokensWithout(savings), 'token') : rangeWords(without)}
            >
              {without === null ? unpricedWords[unpriced ?? 'missing'] : counted(tokensWithout(savings), 'token')}
            </Tile>
            <Tile name="Saved, net" value={netWords(savings)}>
              {`${counted(savings.tokens, 'token')}${shareWords(savings)}`}
            </Tile>
            {fullAt === undefined ? null : (
              <Tile name="Would have filled the window" value={`at turn ${whole(fullAt + 1)}`}>
                {`${counted(window, 'token')}${isWindowAssumed ? ', assumed' : ''}`}
              </Tile>
            )}
          </>
        )}
      </dl>
      {savingsNotes(noted).map((note) => (
        <p key={note} class="muted small">
          {note}
        </p>
      ))}
      {sizes.length < 2 ? null : <AreaChart sizes={sizes} brakes={brakes} window={window} label={label} />}
      <details>
        <summary>Show numbers</summary>
        <Earlier total={sizes.length} />
        <table class="runs number">
          <thead>
            <tr>
              <th scope="col">Turn</th>
              <th scope="col">Tokens sent</th>
              <th scope="col">Without brakes</th>
            </tr>
          </thead>
          <tbody>
            {sizes.slice(-mostRows).map(({ seq, turnIndex, tokens, without: size }) => (
              <tr key={seq}>
                <th scope="row">{turnIndex + 1}</th>
                <td>{whole(tokens)}</td>
                <td>{size === 0 ? 'none' : whole(size)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly children: string
}

const Tile = ({ name, value, children }: TileProps) => (
  <div>
    <dt class="muted small">{name}</dt>
    <dd>
      <strong>{value}</strong>
      {children === '' ? null : <span class="faint small"> {children}</span>}
    </dd>
  </div>
)

interface TreeProps {
  readonly inspector: Inspector
  readonly agentId: string
  readonly records: readonly LogRecord[]
  /** Cost of all agents in US dollars; 0 if no price is known. */
  readonly costUsd: number
}

/** The agents below this one, each with its spending and savings. Their logs are read when the panel is opened. */
export function TreePanel({ inspector, agentId, records, costUsd }: TreeProps) {
  const [agents, setAgents] = useState<readonly AgentSavings[]>()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (!isOpen) return
    const closing = new AbortController()
    const { client } = inspector.attached.value.connection
    const read = async (id: string): Promise<readonly LogRecord[]> => {
      if (id === agentId) return records
      const { seq } = await client.agent(id).snapshot()
      return seq === 0 ? [] : await readUpTo(client, id, seq, closing.signal)
    }
    void savingsOfTree(agentId, read).then((all) => closing.signal.aborted || setAgents(all))
    return () => closing.abort()
  }, [isOpen, agentId])
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        In the tree
        {costUsd === 0 ? null : <span class="faint number"> {money(costUsd)}</span>}
      </summary>
      {agents === undefined ? (
        <p class="faint small">Reading the logs…</p>
      ) : (
        <Tree agents={agents} inspector={inspector} />
      )}
    </details>
  )
}

function Tree({ agents, inspector }: { readonly agents: readonly AgentSavings[]; readonly inspector: Inspector }) {
  const all = treeSavings(agents)
  const dearest = agents.toSorted((one, other) => other.spent.costUsd - one.spent.costUsd)
  const nameOf = useContext(AgentNames)
  return (
    <div class="scroll" role="group" aria-label="In the tree" tabIndex={0}>
      <table class="runs number">
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">Spent</th>
            <th scope="col">Saved, net</th>
            <th scope="col">Folds and prunes</th>
            <th scope="col">Reverts</th>
            <th scope="col">Stalls</th>
            <th scope="col">Others</th>
          </tr>
        </thead>
        <tbody>
          {dearest.slice(0, mostRows).map((one) => (
            <tr key={one.agentId}>
              <th scope="row">
                <button
                  type="button"
                  class="link"
                  title={one.agentId}
                  onClick={() => inspector.go({ agent: one.agentId, view: 'context' })}
                >
                  <bdi>{oneLine(nameOf(one.agentId), 60)}</bdi>
                </button>{' '}
                <span class="faint">{forDisplay(one.definition)}</span>
              </th>
              <td>{spentWords(one)}</td>
              <td>{one.brakes.length === 0 ? '–' : netWords(one)}</td>
              <Counts agents={[one]} />
            </tr>
          ))}
          <tr>
            <th scope="row">All</th>
            <td>{spentWords(all)}</td>
            <td>{netWords(all)}</td>
            <Counts agents={agents} />
          </tr>
        </tbody>
      </table>
    </div>
  )
}

/** Number of changes by kind. */
function Counts({ agents }: { readonly agents: readonly AgentSavings[] }) {
  const types = agents.flatMap(({ brakes }) => brakes.map(({ type }) => type))
  const [prunes, reverts] = (['prune.applied', 'revert.applied'] as const).map(
    (type) => types.filter((one) => one === type).length,
  )
  return (
    <>
      <td>{whole(prunes!)}</td>
      <td>{whole(reverts!)}</td>
      <td>{whole(agents.reduce((sum, { stalls }) => sum + stalls, 0))}</td>
      <td>{whole(types.length - prunes! - reverts!)}</td>
    </>
  )
}

/** Formats savings in dollars, or in tokens without prices. */
export const netWords = ({ usd, tokens }: Saved): string => (usd === null ? counted(tokens, 'token') : rangeWords(usd))

const spentWords = ({ spent: { costUsd, usage } }: Pick<Savings, 'spent'>): string =>
  costUsd === 0 ? counted(totalTokens(usage), 'token') : money(costUsd)
