import type { Inspector } from '../../model/shell/inspector.ts'
import { HomeSearch } from '../search/homeSearch.tsx'
import type { Rates } from '../../model/sessions/spendOfLate.ts'
import type { Overview } from '../../model/sessions/overview.ts'
import { HomeBulks } from './homeBulks.tsx'
import { HomeTiles } from './homeTiles.tsx'
import { HomeWorkers, useWorkers } from './homeWorkers.tsx'
import { laterPart } from '../../parts/later.tsx'
import type { HomeHostsProps } from '../hosts/homeHosts.tsx'
import { useHosts } from '../hosts/useHosts.ts'

export { FirstHint } from './firstHint.tsx'

// It comes with them: nobody acts before they are there.
export { actOnCause } from '../../model/sessions/causeActs.ts'

const HomeHosts = laterPart<HomeHostsProps>(<></>, async () => (await import('../hosts/homeHosts.tsx')).HomeHosts)

export interface MachinesProps {
  readonly inspector: Inspector
  readonly now: number
}

/** The machines that the server keeps, if there are any. */
export function Machines({ inspector, now }: MachinesProps) {
  const hosts = useHosts(inspector)
  return hosts.length === 0 ? null : <HomeHosts hosts={hosts} now={now} />
}

export interface HomeMoreProps {
  readonly inspector: Inspector
  readonly filter: string
  readonly onFilter: (text: string) => void
  readonly overview: Overview
  readonly now: number
  /** Called with recent spending, in US dollars per minute, by the root of each tree. */
  readonly onRates: (rates: Rates) => void
}

/** The parts of the overview beside its list; their code is loaded once the list is drawn. */
export function HomeMore({ inspector, filter, onFilter, overview, now, onRates }: HomeMoreProps) {
  const workers = useWorkers(inspector)
  const text = workers.some(({ name }) => name === filter) ? '' : filter.trim()
  return (
    <>
      <HomeTiles inspector={inspector} overview={overview} now={now} onRates={onRates} />
      <Machines inspector={inspector} now={now} />
      {workers.length === 0 ? null : (
        <HomeWorkers
          workers={workers}
          agents={inspector.attached.value.directory.agents.value}
          filter={filter}
          onFilter={onFilter}
        />
      )}
      <HomeBulks inspector={inspector} />
      {text === '' ? null : <HomeSearch key={text} inspector={inspector} text={text} />}
    </>
  )
}
