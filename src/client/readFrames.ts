import { describeIssues, errorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { serverFrameSchema, type ServerFrame } from '../protocol/frames.ts'

/** Reads the frames of a message; one that is not understood is reported and skipped. Never throws. */
export function readFrames(data: unknown, report: (error: ErrorInfo) => void): ServerFrame[] {
  const values = parse(data)
  if (values === undefined) {
    report(errorInfo('BRIDGE_FRAME', 'The server sent a message that is not JSON text.'))
    return []
  }
  return values.flatMap((value) => {
    const frame = serverFrameSchema.safeParse(value)
    if (frame.success) return [frame.data]
    report(errorInfo('BRIDGE_FRAME', `The server sent a frame that is not known here: ${describeIssues(frame.error)}.`))
    return []
  })
}

function parse(data: unknown): unknown[] | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(data)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}
