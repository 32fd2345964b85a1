import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { withOutwardError } from '../../../bridge/src/server/outwardError.ts'
import type { Outcome } from './callAgent.ts'
import { askedOf } from './people.ts'

interface Answer {
  readonly text: string
  readonly isError?: boolean
  /** Data in addition to session and stop reason. */
  readonly data?: object
  readonly stopReason: RunResult['stopReason'] | 'waiting' | 'idle'
}

/** Converts the outcome of a call to its answer: text for the model, the same as data, and the session for further calls. */
export function answerOf(outcome: Outcome): CallToolResult {
  const { session } = outcome
  const { text, isError, data, stopReason } =
    outcome.type === 'waiting' ? waitingAnswer(outcome.pending) : resultAnswer(outcome.result)
  return {
    content: [
      { type: 'text', text },
      // Not every client shows its model more than the text, and some join it as it is.
      { type: 'text', text: `\nsession: ${session}` },
    ],
    // Some clients show their model this alone.
    structuredContent: { session, stopReason, text, ...data },
    ...(isError === true ? { isError } : {}),
  }
}

function resultAnswer(given: RunResult | undefined): Answer {
  if (given === undefined) return { stopReason: 'idle', text: 'This session has not been asked anything yet.' }
  const result = withOutwardError<RunResult>(given)
  const { stopReason, text } = result
  switch (result.stopReason) {
    case 'stop':
      return { stopReason, text, data: result.output === undefined ? {} : { output: result.output } }
    case 'length':
      return { stopReason, text: `${text}\n[The answer was cut off at its longest length.]` }
    case 'refusal':
      return { stopReason, text: text === '' ? 'The model refused to answer.' : text, isError: true }
    case 'aborted':
      return { stopReason, text: 'The run was aborted.', isError: true }
    case 'error':
      return { stopReason, text: result.error.message, isError: true, data: { error: infoOf(result.error) } }
    case 'paused': {
      const { reason } = result
      const why = reason.type === 'limit' ? `its limit of ${reason.limit} was reached` : `(${reason.type})`
      const said = `The run is paused: ${why}. Call again with the session and nothing else to continue it.`
      return { stopReason, text: text === '' ? said : `${text}\n${said}`, isError: true, data: { reason } }
    }
  }
}

const infoOf = ({ code, message }: ErrorInfo): ErrorInfo => ({ code, message })

const waitingAnswer = (pending: readonly Pending[]): Answer => ({
  stopReason: 'waiting',
  text: [
    'The agent waits for people, and they cannot be asked through this client. Once it is decided elsewhere, call again with the session and nothing else.',
    ...pending.map((one) => `- ${askedOf(one)}`),
  ].join('\n'),
  isError: true,
  data: { pending },
})

/** Returns the answer to a call that had no effect, or whose outcome is unknown. */
export const errorAnswer = ({ code, message }: ErrorInfo): CallToolResult => ({
  content: [{ type: 'text', text: `${message} (${code})` }],
  isError: true,
})
