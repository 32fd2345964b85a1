import { policyModel } from '../../../../models/src/policyModel.ts'
import type { ReplyShape } from '../../../../models/src/replyShape.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import type { Model, ModelRequest, RequestMessage } from '../../../../../src/protocol/ports/model.ts'
import { noteIn, withoutId } from '../../../../demo/src/brakeMarks.ts'
import { lockFile, unlockCommand } from './lockedProject.ts'

/** Text of the task. The model knows nothing else about the work. */
export const buildTask = 'Build the project: dist/prices.json must be there, and README.md says how.'

/** Returns the model of the stall demo. It needs no key, and can only do `buildTask`. */
export const stallModel = (options: { readonly wordDelayMs?: number } = {}): Model =>
  policyModel(decideBuild, { id: 'embedded:build', ...options })

/**
 * Decides the next reply from the request alone. Expects the lock to be released, so it waits, even after a loop warning. Tries
 * another way only once the request has a lesson in place of its attempts. Pure.
 */
export function decideBuild({ messages }: ModelRequest): ReplyShape {
  const seen = look(messages)
  const { isAsked, hasReadme, problem, build, isWarned, hasLesson } = seen
  if (!isAsked) return unable('I am the model of the stall demo and can do nothing else.')
  if (problem !== undefined) return unable(problem)
  if (!hasReadme) return call('How is it built?', 'read_file', { path: 'README.md' })
  if (build?.isError === false) return `Done: ${build.text.trim()}.`
  if (build !== undefined && !build.text.includes('another build is running'))
    return unable(`The build failed: ${build.text}`)
  if (hasLesson) return freeLock(seen)
  if (build === undefined) return call('I build it.', 'build', {})
  return call(
    isWarned
      ? 'I am told that I go in circles. But that build must end some time: once more.'
      : 'Another build is running. It will be done soon: I try again.',
    'build',
    {},
  )
}

/** Returns the next reply of the other way, which finds the holder of the lock. */
function freeLock({ lock, unlocked, build }: Seen): ReplyShape {
  if (lock === undefined)
    return call('A note says that building again and again led nowhere. Who holds the lock?', 'read_file', {
      path: lockFile,
    })
  if (unlocked === undefined)
    return call(`Is process ${/"pid":(\d+)/.exec(lock)?.[1] ?? 'of the lock'} still there?`, 'run_command', {
      command: unlockCommand,
    })
  if (unlocked.isError) return unable(`The lock is held: ${unlocked.text}`)
  if (build !== undefined) return unable('It is locked again, and I know no other way.')
  return call('Nobody held it. Now I build.', 'build', {})
}

interface Outcome {
  readonly text: string
  readonly isError: boolean
}

/** State of the work according to a request. */
interface Seen {
  isAsked: boolean
  hasReadme: boolean
  /** True once the runtime has warned of a loop. `hasLesson`: attempts were reverted because of it. */
  isWarned: boolean
  hasLesson: boolean
  lock: string | undefined
  unlocked: Outcome | undefined
  build: Outcome | undefined
  /** Description of a problem that prevents the work from continuing. */
  problem: string | undefined
}

function look(messages: readonly RequestMessage[]): Seen {
  const seen: Seen = {
    isAsked: false,
    hasReadme: false,
    isWarned: false,
    hasLesson: false,
    lock: undefined,
    unlocked: undefined,
    build: undefined,
    problem: undefined,
  }
  for (const message of messages) {
    if (message.role === 'user')
      for (const block of message.content) if (block.type === 'text') seeWords(seen, block.text)
    if (message.role === 'toolResult') {
      const { toolName, isError } = message
      const outcome = { text: withoutId(textOf(message.content)), isError }
      if (toolName === 'build') seen.build = outcome
      else if (toolName === 'run_command') seen.unlocked = outcome
      else if (isError) seen.problem = outcome.text
      else if (seen.hasReadme) seen.lock = outcome.text
      else seen.hasReadme = true
    }
  }
  return seen
}

function seeWords(seen: Seen, text: string): void {
  const kind = noteIn(text)?.kind
  if (kind === undefined) seen.isAsked ||= /\bbuild\b/i.test(text)
  if (kind === 'stall') seen.isWarned = true
  if (kind === 'lesson') seen.hasLesson = true
}

const call = (text: string, name: string, input: object): ReplyShape => ({ text, toolCalls: [{ name, input }] })

const unable = (why: string): ReplyShape => ({ text: why, stopReason: 'refusal' })
