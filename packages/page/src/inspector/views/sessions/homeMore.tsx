import type { Inspector } from '../../model/shell/inspector.ts'
import { HomeSearch } from '../search/homeSearch.tsx'
import type { OverviewRow } from '../../model/sessions/overview.ts'
import { HomeCauses } from './homeCauses.tsx'
import { HomeWorkers, useWorkers } from './homeWorkers.tsx'

export { FirstHint } from './firstHint.tsx'

export interface HomeMoreProps {
  readonly inspector: Inspector
  readonly filter: string
  readonly onFilter: (text: string) => void
  readonly rows: readonly OverviewRow[]
}

/** The parts of the overview beside its list; their code is loaded once the list is drawn. */
export function HomeMore({ inspector, filter, onFilter, rows }: HomeMoreProps) {
  const workers = useWorkers(inspector)
  const text = workers.some(({ name }) => name === filter) ? '' : filter.trim()
  return (
    <>
      {workers.length === 0 ? null : (
        <HomeWorkers
          workers={workers}
          agents={inspector.attached.value.directory.agents.value}
          filter={filter}
          onFilter={onFilter}
        />
      )}
      <HomeCauses inspector={inspector} rows={rows} />
      {text === '' ? null : <HomeSearch key={text} inspector={inspector} text={text} />}
    </>
  )
}
