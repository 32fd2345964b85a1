import { failureOf } from './failure.ts'
import { editKey, toEdit, type FileEdit } from './fileEdit.ts'
import { mutations } from './mutations.ts'
import type { Site } from './site.ts'
import { innermost, suspectsOf } from './suspects.ts'
import type { TestRun } from './testRun.ts'
import { tokensOf } from './tokens.ts'

/** An edit worth trying, with the suspected fault. */
export interface Candidate {
  readonly edit: FileEdit
  /** Name of the suspected fault, such as `a boundary`. */
  readonly fault: string
  readonly line: number
  readonly functionName: string | undefined
  readonly was: string
  readonly becomes: string
}

const maxRepeats = 4

/** Returns every single edit that may repair the failing run, the most likely first. Pure and deterministic. */
export function candidatesFor(
  sources: ReadonlyMap<string, string>,
  tests: ReadonlyMap<string, string>,
  run: TestRun,
): Candidate[] {
  const failure = failureOf(run)
  const suspects = suspectsOf(sources, tests, run)
  const asyncNames = new Set(
    suspects.flatMap(({ functions }) => functions.filter(({ isAsync }) => isAsync).map(({ name }) => name)),
  )
  const nameCounts = new Map<string, number>()
  for (const tokens of [...suspects.map((file) => file.tokens), ...[...tests.values()].map(tokensOf)]) {
    for (const { type, text } of tokens) if (type === 'name') nameCounts.set(text, (nameCounts.get(text) ?? 0) + 1)
  }
  const found = new Map<string, Candidate & { score: number }>()
  for (const file of suspects) {
    file.tokens.forEach((token, index) => {
      if (isImport(file.content, token.start)) return
      const suspicion = file.suspicion(index)
      const site: Site = { file, index, token, failure, asyncNames, nameCounts }
      for (const { name, weight, propose } of mutations) {
        propose(site).forEach((replacement, rank) => {
          const edit = toEdit(file.path, file.content, replacement)
          if (edit === undefined || edit.oldText === edit.newText || found.has(editKey(edit))) return
          const { start, end, text: becomes } = replacement
          found.set(editKey(edit), {
            edit,
            fault: name,
            line: lineAt(file.content, start),
            functionName: innermost(file.functions, index)?.name,
            was: file.content.slice(start, end),
            becomes,
            score: suspicion + weight(failure) - rank,
          })
        })
      }
    })
  }
  return spread([...found.values()].toSorted((a, b) => b.score - a.score))
}

const lineAt = (content: string, at: number): number => content.slice(0, at).split('\n').length

const isImport = (content: string, at: number): boolean =>
  /^\s*import\b/.test(content.slice(content.lastIndexOf('\n', at - 1) + 1, at + 8))

/** Reorders candidates so that many edits of one kind on one line come after the first few of other kinds. */
function spread(candidates: readonly (Candidate & { score: number })[]): Candidate[] {
  const seen = new Map<string, number>()
  const late = (candidate: Candidate): boolean => {
    const key = `${candidate.edit.path}:${candidate.line}:${candidate.fault}`
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return count > maxRepeats
  }
  const marked = candidates.map((candidate) => ({ candidate, isLate: late(candidate) }))
  return [...marked.filter(({ isLate }) => !isLate), ...marked.filter(({ isLate }) => isLate)].map(
    ({ candidate }) => candidate,
  )
}
