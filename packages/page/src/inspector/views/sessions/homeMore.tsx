import type { Inspector } from '../../model/shell/inspector.ts'
import { HomeSearch } from '../search/homeSearch.tsx'
import { HomeWorkers, useWorkers } from './homeWorkers.tsx'

export { FirstHint } from './firstHint.tsx'

export interface HomeMoreProps {
  readonly inspector: Inspector
  readonly filter: string
  readonly onFilter: (text: string) => void
}

/** The parts of the overview beside its list; their code is loaded once the list is drawn. */
export function HomeMore({ inspector, filter, onFilter }: HomeMoreProps) {
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
      {text === '' ? null : <HomeSearch key={text} inspector={inspector} text={text} />}
    </>
  )
}
