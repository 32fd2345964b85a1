import type { ReplyShape } from '../../../models/src/replyShape.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { candidatesFor, type Candidate } from './candidates.ts'
import { readCase, type CaseFile } from './caseFile.ts'
import { applyEdit, editKey, inverseOf, type FileEdit } from './fileEdit.ts'
import { importedFiles, isSource, isTest, listedFile, testCommandOf } from './project.ts'
import { ending, isRepairTask, otherTask, sayFailure, sayTrial, unable } from './phrases.ts'
import { secondsOf, type TestRun } from './testRun.ts'

/** Maximum number of edits that are tried. */
const maxTries = 80
/** Maximum number of files that are read in one reply, and in all. */
const maxFilesAtOnce = 6
const maxFiles = 16

const needed = ['list_files', 'read_file', 'edit_file', 'run_command']

type Call = { readonly name: string; readonly input: unknown }

const edit = (input: FileEdit): Call => ({ name: 'edit_file', input: { ...input } })

/**
 * Policy of the embedded model: repairs a failing test by trying single edits and keeping those that the tests confirm. A pure function of the
 * request, which takes all facts from earlier tool calls and their results.
 */
export function decideRepair(request: ModelRequest): ReplyShape {
  const file = readCase(request.messages)
  const tools = new Set(request.tools.map(({ name }) => name))
  if (!isRepairTask(file.task) || needed.some((name) => !tools.has(name))) return otherTask()
  const reply = nextStep(file)
  if (file.remark === undefined || reply.toolCalls === undefined) return reply
  const noted = `I read "${file.remark.slice(0, 80)}", but the embedded model cannot take advice, so I go on. `
  return { ...reply, text: noted + (reply.text ?? '') }
}

type Reply = Exclude<ReplyShape, string>

function nextStep(file: CaseFile): Reply {
  const { problem, leftover, listing, files, baseline, latest } = file
  if (problem !== undefined) return unable(problem, file)
  if (leftover !== undefined) return undoLeftover(leftover)
  if (listing === undefined) return say('First I look at what is here.', { name: 'list_files', input: {} })
  if (listing.includes('package.json') && !files.has('package.json')) {
    return say('How are the tests run? package.json should say.', read('package.json'))
  }
  const command = testCommandOf(listing, files.get('package.json') ?? undefined)
  if (command === undefined) return unable('I found neither a test script in package.json nor a test file.', file)
  if (baseline === undefined) return say(`I run the tests: ${command}`, run(command))
  if (latest?.passed === true) return ending(file, command)
  if (baseline.problem !== undefined) return unable(`\`${command}\`: ${baseline.problem}`, file)
  const missing = filesToRead(file, listing, command, baseline)
  if (missing.length > 0) {
    const opening =
      files.size <= 1 ? `${sayFailure(baseline)} I read the test and what it uses.` : 'And what that uses.'
    return say(opening, ...missing.map(read))
  }
  return tryNext(file, command, baseline)
}

const say = (text: string, ...toolCalls: readonly Call[]): Reply => ({ text, toolCalls })
const read = (path: string): Call => ({ name: 'read_file', input: { path } })
const run = (command: string, timeoutMs = 120_000): Call => ({ name: 'run_command', input: { command, timeoutMs } })

const undoLeftover = (leftover: FileEdit): Reply =>
  say(`I was cut off while I tried an edit of ${leftover.path}; I take it back first.`, edit(inverseOf(leftover)))

/** Judges the edit under trial and tries the next. */
function tryNext(file: CaseFile, command: string, baseline: TestRun): Reply {
  const { trial, rejected, kept } = file
  // A mutation may loop for ever: a run gets ten times what the first one took, and at least 10 s.
  const timeoutMs = Math.round(Math.min(600_000, Math.max(10_000, secondsOf(baseline.text) * 10_000)))
  if (trial !== undefined && !trial.isRejected) return say('I run the tests again.', run(command, timeoutMs))
  const undo = trial === undefined ? [] : [edit(inverseOf(trial.edit))]
  const failed = trial === undefined ? rejected : new Set(rejected).add(editKey(trial.edit))
  const next = failed.size >= maxTries ? undefined : nextCandidate(file, command, baseline, failed)
  if (next === undefined)
    return undo.length === 0
      ? unable('None of the edits I can think of helps.', file)
      : say('I take that back.', ...undo)
  const text = sayTrial(next, {
    isFirst: failed.size === 0 && kept.length === 0,
    wasRejected: trial !== undefined,
    hasProgress: kept.length > 0,
  })
  return say(text, ...undo, edit(next.edit), run(command, timeoutMs))
}

function nextCandidate(
  file: CaseFile,
  command: string,
  baseline: TestRun,
  failed: ReadonlySet<string>,
): Candidate | undefined {
  const sources = new Map<string, string>()
  const tests = new Map<string, string>()
  for (const [path, content] of file.files) {
    if (content === null || !isSource(path)) continue
    const undone = file.trial?.edit.path === path ? applyEdit(content, inverseOf(file.trial.edit)) : content
    if (isTest(path, command)) tests.set(path, content)
    else if (undone !== undefined) sources.set(path, undone)
  }
  return candidatesFor(sources, tests, baseline).find((candidate) => !failed.has(editKey(candidate.edit)))
}

/** Returns the files still to be read: the failing tests, the files in the stack, and their imports. */
function filesToRead(
  { files, listing: _, ...file }: CaseFile,
  listing: readonly string[],
  command: string,
  baseline: TestRun,
): string[] {
  if (file.trial !== undefined || files.size > maxFiles) return []
  const places = baseline.places.flatMap(({ path }) => listedFile(path, listing) ?? [])
  const tests = listing.filter((path) => isTest(path, command))
  const named = tests.filter((path) => places.includes(path) || baseline.text.includes(path))
  const wanted = new Set([...(named.length > 0 ? named : tests.slice(0, 5)), ...places.filter(isSource)])
  // Sets iterate over what is added meanwhile: imports of imports come too.
  for (const path of wanted) {
    for (const imported of importedFiles(path, files.get(path) ?? '', listing)) wanted.add(imported)
  }
  return [...wanted].filter((path) => !files.has(path)).slice(0, maxFilesAtOnce)
}
