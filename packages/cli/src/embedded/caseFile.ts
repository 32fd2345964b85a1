import { textOf, toolCallsOf } from '../../../../src/protocol/messages.ts'
import type { RequestMessage } from '../../../../src/protocol/ports/model.ts'
import { applyEdit, editKey, inverseOf, type FileEdit } from './fileEdit.ts'
import { readTestRun, type TestRun } from './testRun.ts'
import { withoutMarks } from '../../../demo/src/brakeMarks.ts'

/** Facts about one task, folded from the conversation, so the same request gives the same facts. */
export interface CaseFile {
  readonly task: string
  /** Message sent in the middle of the work, if it is the last one. */
  readonly remark: string | undefined
  readonly listing: readonly string[] | undefined
  /** Current contents; `null` for a file that could not be read. */
  readonly files: ReadonlyMap<string, string | null>
  /** The last run without an edit under trial. An edit has to improve on it. */
  readonly baseline: TestRun | undefined
  readonly latest: TestRun | undefined
  /** The edit under trial, and whether a run has shown that it does not help. */
  readonly trial: { readonly edit: FileEdit; readonly isRejected: boolean } | undefined
  /** Edit that an interrupted earlier task left behind. */
  readonly leftover: FileEdit | undefined
  readonly kept: readonly FileEdit[]
  readonly rejected: ReadonlySet<string>
  /** Description of a problem that makes it impossible to continue. */
  readonly problem: string | undefined
}

interface Result {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly text: string
  readonly isError: boolean
}

const newCase = (task: string, leftover?: FileEdit): CaseFile => ({
  task,
  remark: undefined,
  listing: undefined,
  files: new Map(),
  baseline: undefined,
  latest: undefined,
  trial: undefined,
  leftover,
  kept: [],
  rejected: new Set(),
  problem: undefined,
})

/** Reads the conversation: the last task, and the results of its tool calls. */
export function readCase(messages: readonly RequestMessage[]): CaseFile {
  let file = newCase('')
  const calls = new Map<string, Result['input']>()
  messages.forEach((message, i) => {
    if (message.role === 'assistant') {
      for (const { callId, input } of toolCallsOf(message.content)) calls.set(callId, input as Result['input'])
      return
    }
    const text = withoutMarks(message)
    if (text === undefined) return
    if (message.role === 'user') file = takeMessage(file, text, messages[i - 1])
    else {
      const { callId, toolName: name, isError } = message
      file = readResult({ ...file, remark: undefined }, { name, input: calls.get(callId) ?? {}, text, isError })
    }
  })
  return file
}

/** Takes in a message. Between tool calls it is a remark on the work; otherwise it is a new task. */
function takeMessage(file: CaseFile, text: string, before: RequestMessage | undefined): CaseFile {
  const isRemark = before?.role === 'toolResult' && !textOf(before.content).startsWith('Aborted')
  return isRemark ? { ...file, remark: text } : newCase(text, file.trial?.edit ?? file.leftover)
}

function readResult(file: CaseFile, result: Result): CaseFile {
  const { name, input, text, isError } = result
  if (isError && /^(?:Skipped|Aborted|Interrupted)\b/.test(text)) return file
  if (isError && text.startsWith('Denied')) return { ...file, problem: `I may not use ${name}: ${text}` }
  if (name === 'list_files') {
    return isError ? { ...file, problem: text } : { ...file, listing: text.split('\n').filter(isOwnFile) }
  }
  if (name === 'read_file') return withFile(file, String(input['path']), isError || text.startsWith('[') ? null : text)
  if (name === 'edit_file') return readEdit(file, input as unknown as FileEdit, result)
  return name === 'run_command' ? readRun(file, readTestRun(text, isError)) : file
}

const isOwnFile = (path: string): boolean =>
  !path.startsWith('[') && !path.startsWith('.escapement/') && !path.endsWith(' (link)')

const withFile = (file: CaseFile, path: string, content: string | null): CaseFile => ({
  ...file,
  files: new Map(file.files).set(path, content),
})

function readEdit(file: CaseFile, edit: FileEdit, { text, isError }: Result): CaseFile {
  const { trial, leftover, rejected } = file
  const key = editKey(inverseOf(edit))
  const isUndo = [trial?.edit, leftover].some((undone) => undone !== undefined && editKey(undone) === key)
  if (isError) {
    return isUndo
      ? { ...file, problem: `I could not take my last edit of ${edit.path} back: ${text}` }
      : { ...file, rejected: new Set(rejected).add(editKey(edit)) }
  }
  const content = file.files.get(edit.path)
  const edited = content == null ? file : withFile(file, edit.path, applyEdit(content, edit) ?? null)
  if (!isUndo) return { ...edited, trial: { edit, isRejected: false } }
  if (trial === undefined) return { ...edited, leftover: undefined }
  return { ...edited, trial: undefined, rejected: new Set(rejected).add(key) }
}

/** Judges the edit under trial by a run: it is kept if all tests pass, or if more pass and fewer fail than before. */
function readRun(file: CaseFile, run: TestRun): CaseFile {
  const { trial, baseline, kept } = file
  if (trial === undefined || baseline === undefined) return { ...file, baseline: run, latest: run }
  const isBetter = run.passed || (run.problem === undefined && improves(run, baseline))
  if (!isBetter) return { ...file, latest: run, trial: { ...trial, isRejected: true } }
  return { ...file, baseline: run, latest: run, trial: undefined, kept: [...kept, trial.edit] }
}

const improves = ({ counts: now }: TestRun, { counts: before }: TestRun): boolean =>
  now !== undefined && before !== undefined && now.failed < before.failed && now.passed > before.passed
