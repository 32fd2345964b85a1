import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { cutEnd } from '../../conversation/cutMiddle.ts'
import { describeIssues, RuntimeError } from '../../protocol/errors.ts'
import { isAgentId } from '../../protocol/ids.ts'
import { depthOf } from '../bridge/readFrame.ts'

/** Longest part of what is wrong that is said back, and longest id of a run, in UTF-16 units. */
const maxEchoed = 500
const longestRunId = 256

/** What a client asks for. @throws RuntimeError `BRIDGE_FRAME`, `INVALID_ID` */
export function readInput(text: string, maxDepth: number): RunAgentInput {
  const read = RunAgentInputSchema.safeParse(parse(text, maxDepth))
  if (!read.success) {
    const issues = describeIssues(read.error)
    const problem = cutEnd(issues, maxEchoed)
    throw new RuntimeError('BRIDGE_FRAME', `This is no RunAgentInput: ${problem}.`)
  }
  const input = read.data as RunAgentInput
  const { threadId, runId } = input
  if (!isAgentId(threadId)) {
    throw new RuntimeError('INVALID_ID', `threadId: ${JSON.stringify(cutEnd(threadId, maxEchoed))} is no agent id.`)
  }
  if (runId === '' || runId.length > longestRunId) {
    throw new RuntimeError('BRIDGE_FRAME', `runId: give 1 to ${longestRunId} characters.`)
  }
  return input
}

function parse(text: string, maxDepth: number): unknown {
  if (depthOf(text) > maxDepth)
    throw new RuntimeError('BRIDGE_FRAME', `The input is nested deeper than ${maxDepth} levels.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new RuntimeError('BRIDGE_FRAME', 'The input is not JSON.')
  }
}

/** A value of `forwardedProps`, when it is an object. */
export function propOf({ forwardedProps }: RunAgentInput, name: 'definition' | 'command'): unknown {
  const props: unknown = forwardedProps
  return typeof props === 'object' && props !== null ? (props as Record<string, unknown>)[name] : undefined
}
