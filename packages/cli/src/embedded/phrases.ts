import type { ReplyShape } from '../../../models/src/replyShape.ts'
import type { Candidate } from './candidates.ts'
import type { CaseFile } from './caseFile.ts'
import type { FileEdit } from './fileEdit.ts'
import type { TestRun } from './testRun.ts'

type Reply = Exclude<ReplyShape, string>

const asksForRepair = /\b(?:fix|repair|debug|mend|solve)\b/i
const bringsAbout = /\b(?:make|get|let)\b/i
const isWell = /\b(?:pass|passes|passing|green|work|works)\b/i
const asksNotTo = /\b(?:do not|don't|never|without)\s+(?:fix|edit|chang|touch|repair)/i

/** Returns true if a task asks for the repair of failing tests, the only job of the embedded model. */
export const isRepairTask = (task: string): boolean =>
  (asksForRepair.test(task) || task.split('\n').some(makesWell)) && !asksNotTo.test(task)

/** Returns true if a line asks to make something pass or work. The first such verb decides: the words after it include those after any later one. */
function makesWell(line: string): boolean {
  const begin = line.search(bringsAbout)
  return begin !== -1 && isWell.test(line.slice(begin))
}

/** Returns the reply to any other task. */
export const otherTask = (): Reply => ({
  text:
    'I am the embedded model: a small program without a language model behind it. All I can do is repair failing tests of a ' +
    'JavaScript or TypeScript project, by trying single edits; ask me to "fix the failing test". For any other task use a real ' +
    'model: install its package and set its key, for example `npm install @ai-sdk/anthropic` and ANTHROPIC_API_KEY, and run the ' +
    'same command again, or choose one with --model anthropic:<model id>.',
  stopReason: 'refusal',
})

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Describes a failure: `1 of 4 tests fails: "…" expected 0 and got 5.` */
export function sayFailure({ counts, failing, expected, actual, error }: TestRun): string {
  const total = counts === undefined ? 0 : counts.passed + counts.failed
  const many =
    counts === undefined || total === 0
      ? 'The tests fail'
      : `${counts.failed} of ${plural(total, 'test')} ${counts.failed === 1 ? 'fails' : 'fail'}`
  const name = failing[0] === undefined ? '' : ` "${failing[0]}"`
  const values =
    expected !== undefined && actual !== undefined
      ? ` expected ${expected} and got ${actual}`
      : error === undefined
        ? ''
        : ` ${error}`
  return name + values === '' ? `${many}.` : `${many}:${name}${name !== '' && values !== '' ? ':' : ''}${values}.`
}

/** Describes the next trial and the outcome of the one before. */
export function sayTrial(
  { edit, line, functionName, was, becomes, fault }: Candidate,
  { isFirst, wasRejected, hasProgress }: { isFirst: boolean; wasRejected: boolean; hasProgress: boolean },
): string {
  const place = `${edit.path}:${line}${functionName === undefined ? '' : `, in ${functionName}`}`
  const change =
    was.trim() === ''
      ? `add \`${becomes.trim()}\``
      : becomes.trim() === ''
        ? `remove \`${was.trim()}\``
        : `\`${becomes.trim()}\` instead of \`${was.trim()}\``
  const opening = wasRejected
    ? 'No better, so I take it back. '
    : isFirst
      ? ''
      : hasProgress
        ? 'Better: I keep that. '
        : ''
  return `${opening}It may be ${fault} (${place}): I try ${change}.`
}

/** Returns the reply when the tests pass. */
export function ending({ kept, rejected }: CaseFile, command: string): Reply {
  if (kept.length === 0)
    return { text: `The tests pass already (\`${command}\`): there is nothing to fix, and I changed nothing.` }
  const tries =
    rejected.size === 0
      ? 'at the first try'
      : `after ${rejected.size} ${rejected.size === 1 ? 'edit that was' : 'edits that were'} taken back`
  return {
    text: `The tests pass now, ${tries}. What I changed:\n\n${kept.map(showEdit).join('\n\n')}\n\nThe tests are all I have checked it by, so please read it.`,
  }
}

/** Returns the reply when the repair has failed. */
export function unable(why: string, { kept, rejected, baseline, trial }: CaseFile): Reply {
  const tried = rejected.size === 0 ? '' : ` I tried ${plural(rejected.size, 'single edit')} and took each back.`
  const progress =
    kept.length === 0 ? '' : ` Some more tests pass with what I kept:\n\n${kept.map(showEdit).join('\n\n')}\n`
  const left = trial === undefined ? '' : ` This edit is still in place:\n\n${showEdit(trial.edit)}\n`
  const state = baseline === undefined || baseline.problem !== undefined ? '' : ` ${sayFailure(baseline)}`
  return {
    text: `I could not do it. ${why.replace(/[.!?]?$/, '.')}${tried}${state}${progress}${left} A real model can do more: set a key and its package (see escapement --help).`,
    stopReason: 'refusal',
  }
}

/** Shows an edit as its removed and added lines, fenced so that Markdown leaves their signs alone. */
function showEdit({ path, oldText, newText }: FileEdit): string {
  const [before, after] = [oldText.split('\n'), newText.split('\n')]
  const removed = before.filter((line) => !after.includes(line)).map((line) => `- ${line.trim()}`)
  const added = after.filter((line) => !before.includes(line)).map((line) => `+ ${line.trim()}`)
  const lines = [...removed, ...added].join('\n')
  const fence = '`'.repeat(Math.max(3, ...(lines.match(/`+/g) ?? []).map(({ length }) => length + 1)))
  return `\`${path}\`\n\n${fence}diff\n${lines}\n${fence}`
}
