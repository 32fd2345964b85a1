import type { Cell, Outcome } from './cells.ts'

/** How each door answers: what ended well, was taken back or stopped by others, and what is said again. */
const answers: Readonly<Record<string, { done: string; cancelled: string; stopped: string; again: string }>> = {
  bridge: { done: 'stop', cancelled: 'aborted', stopped: 'aborted', again: 'ok' },
  ACP: { done: 'end_turn', cancelled: 'cancelled', stopped: 'cancelled', again: 'QUEUE_FULL' },
  'AG-UI': { done: 'finished', cancelled: 'finished', stopped: 'finished', again: 'finished' },
  'AG-UI socket': { done: 'finished', cancelled: 'finished', stopped: 'finished', again: 'finished' },
  useChat: { done: 'finished', cancelled: 'aborted', stopped: 'aborted', again: 'finished' },
  'useChat socket': { done: 'finished', cancelled: 'open', stopped: 'aborted', again: 'finished' },
  'MCP, legacy': { done: 'stop', cancelled: 'cut', stopped: 'aborted', again: 'stop' },
  'MCP, modern': { done: 'stop', cancelled: 'cut', stopped: 'aborted', again: 'stop' },
}

const goesOn = { said: 1, ends: ['stop'] } as const
const aborted = { said: 1, ends: ['aborted'] } as const
const unsaid = { said: 0, ends: [] } as const

/** The one outcome of each cell. Pure. */
export function outcomeOf({ door: { name, leavingCancels }, step, event }: Cell): Outcome {
  const { done, cancelled, stopped, again } = answers[name]!
  // Somebody may be turned away, or may not have asked at all by the time that it is known who it is, or where that goes.
  const isBefore = step === 'who it is' || step === 'where it is'
  // While the agent is woken, nothing is carried out for who is let in no more.
  const isSaid = step === 'writing' || step === 'model'
  switch (event) {
    case 'leaves':
      return { ...(isBefore ? unsaid : leavingCancels ? aborted : goesOn), answer: 'cut' }
    case 'is turned away': {
      const isRefused = step === 'who it is' && name !== 'bridge'
      return { ...(isSaid ? (leavingCancels ? aborted : goesOn) : unsaid), answer: isRefused ? '401' : 'cut' }
    }
    case 'cancels':
      // Before it is said, an editor can still take it back.
      return { ...(name === 'ACP' && !isSaid ? unsaid : aborted), answer: cancelled }
    case 'asks again':
      // A task has no id: given twice, it is to be done twice.
      if (name.startsWith('MCP')) return { said: 2, ends: ['stop', 'stop'], answer: done, again }
      return { ...goesOn, answer: done, again }
    case 'has its agent stopped':
      return { ...aborted, answer: stopped }
    case 'has its server closed':
      return { ...(isSaid ? goesOn : unsaid), answer: name === 'AG-UI' && step === 'model' ? 'SERVER_CLOSED' : 'cut' }
  }
}
