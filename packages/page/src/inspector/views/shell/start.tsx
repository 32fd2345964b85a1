import type { Inspector } from '../../model/shell/inspector.ts'
import { Home } from '../sessions/home.tsx'
import { Welcome } from './welcome.tsx'

export interface StartProps {
  readonly inspector: Inspector
  readonly onSpawn: () => void
}

/** The overview, or an explanation of how to start an agent if there are none. */
export function Start(props: StartProps) {
  const { agents, sessions, isKnown } = props.inspector.attached.value.directory
  const isEmpty = agents.value.size === 0 && (sessions.value?.length ?? 0) === 0
  return isEmpty || !isKnown.value ? <Welcome {...props} /> : <Home inspector={props.inspector} />
}
