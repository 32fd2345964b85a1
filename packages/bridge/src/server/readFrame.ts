import type { RawData } from 'ws'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import { describeIssues } from '../../../../src/protocol/errors.ts'
import { clientFrames, type CheckedClientFrame } from '../../../wire/src/frames.ts'

/** Maximum length of a client's frame that an error quotes, in UTF-16 units. */
const maxEchoed = 500

/** Returns the text of a message. */
export const messageText = (data: RawData | string): string =>
  typeof data === 'string' ? data : new TextDecoder().decode(Array.isArray(data) ? Buffer.concat(data) : data)

type Read = CheckedClientFrame | { readonly problem: string; readonly id?: string }

/** Reads a frame. Never throws. An invalid frame is described by `problem`. */
export function readFrame(text: string, maxDepth: number): Read {
  const read = readJson(text, maxDepth, 'frame')
  if ('problem' in read) return read
  const { value } = read
  const frame = clientFrames.safeParse(value)
  if (frame.success) return frame.data
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  const issues = describeIssues(frame.error)
  const problem = `The frame is not one this server knows: ${cutEnd(issues, maxEchoed)}.`
  return typeof id === 'string' && id.length <= 128 ? { problem, id } : { problem }
}

/** Parses a JSON text. `what` names the text in the description of a problem. */
export function readJson(text: string, maxDepth: number, what: string): { value: unknown } | { problem: string } {
  if (depthOf(text) > maxDepth) return { problem: `The ${what} is nested deeper than ${maxDepth} levels.` }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return { problem: `The ${what} is not JSON.` }
  }
}

/** Returns the nesting depth of brackets in a JSON text, ignoring strings. It is checked before parsing, which would recurse. */
export function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (isText) {
      if (unit === 0x5c) index += 1
      else if (unit === 0x22) isText = false
    } else if (unit === 0x22) isText = true
    else if (unit === 0x7b || unit === 0x5b) deepest = Math.max(deepest, (depth += 1))
    else if (unit === 0x7d || unit === 0x5d) depth -= 1
  }
  return deepest
}
