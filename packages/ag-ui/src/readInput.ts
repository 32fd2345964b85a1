import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import { describeIssues, RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import { readJson } from '../../bridge/src/server/readFrame.ts'

/** Maximum length of a problem's description, and of a run id, in UTF-16 units. */
const maxEchoed = 500
const longestRunId = 256

/** Parses a client's request. @throws RuntimeError `BRIDGE_FRAME` */
export function readBody(text: string, maxDepth: number): unknown {
  const json = readJson(text, maxDepth, 'input')
  if ('problem' in json) throw new RuntimeError('BRIDGE_FRAME', json.problem)
  return json.value
}

/** Checks a client's input. @throws RuntimeError `BRIDGE_FRAME`, `INVALID_ID` */
export function readInput(body: unknown): RunAgentInput {
  const read = RunAgentInputSchema.safeParse(body)
  if (!read.success) {
    const problem = cutEnd(describeIssues(read.error), maxEchoed)
    throw new RuntimeError('BRIDGE_FRAME', `This is not a RunAgentInput: ${problem}.`)
  }
  const input = read.data as RunAgentInput
  const { threadId, runId } = input
  if (!isAgentId(threadId)) {
    throw new RuntimeError('INVALID_ID', `threadId: ${JSON.stringify(cutEnd(threadId, maxEchoed))} is not an agent id.`)
  }
  if (runId === '' || runId.length > longestRunId) {
    throw new RuntimeError('BRIDGE_FRAME', `runId: give 1 to ${longestRunId} characters.`)
  }
  return input
}

/** Returns a value of `forwardedProps`, if that is an object. */
export function propOf({ forwardedProps }: RunAgentInput, name: 'definition' | 'command'): unknown {
  const props: unknown = forwardedProps
  return typeof props === 'object' && props !== null ? (props as Record<string, unknown>)[name] : undefined
}
