import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { AgentView } from '../model/agentView.ts'
import { recentStates } from '../model/recentStates.ts'

/** Milliseconds that a state glows after the machine left it. */
const glow = 900

const none: ReadonlySet<string> = new Set()

/** States the machine has just been in: most moves are over before a frame is drawn, and would not be seen. */
export function useChartTrail(view: AgentView): ReadonlySet<string> {
  const trail = useSignal<ReadonlySet<string>>(none)
  const looked = useRef<number | null>(null)
  const state = view.state.value
  useEffect(() => {
    const { events, chartState, at } = state
    const from = Math.min(looked.current ?? events.length, events.length)
    looked.current = events.length
    if (at !== null) return
    const states = recentStates(events, from, chartState)
    if (states.size > 0) trail.value = new Set([...trail.value, ...states])
  }, [state])
  const { value } = trail
  useEffect(() => {
    if (value.size === 0) return
    const timer = setTimeout(() => (trail.value = none), glow)
    return () => clearTimeout(timer)
  }, [value])
  return value
}
