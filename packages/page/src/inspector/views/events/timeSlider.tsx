import { laterPart } from '../../parts/later.tsx'
import type { MomentsProps } from './moments.tsx'

const Moments = laterPart(<div class="time" />, async () => (await import('./moments.tsx')).Moments)

/** Slider that goes to any moment of the log. Open by default when the agent is not running. */
export function TimeSlider(props: MomentsProps) {
  const { at, lastSeq, isRunning } = props.view.state.value
  const isOpen = props.inspector.isTimeOpen.value ?? (!isRunning || at !== null)
  return isOpen && lastSeq > 0 ? <Moments {...props} /> : null
}
