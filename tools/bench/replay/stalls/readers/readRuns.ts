import { readFile, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parsed } from '../../readers/jsonLines.ts'
import { isObject, listOf, objectOf } from '../../readers/shapes.ts'
import { readText } from '../../readers/readSession.ts'
import { ReplayError } from '../../recordedSession.ts'
import type { LabelledRun } from '../labelledRun.ts'
import { isInterCode, readInterCode } from './interCode.ts'
import { marked, ofShell } from './outcomes.ts'
import { isTauBench, readTauBench } from './tauBench.ts'

/**
 * Reads runs whose outcome is known: a file of InterCode or tau-bench, or a folder of Multi-SWE-bench with the trajectories of a model in
 * `trajs` and their verdicts in `results/results.json`.
 *
 * @throws ReplayError when it is none of these.
 */
export async function readRuns(path: string): Promise<LabelledRun[]> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) throw new ReplayError(`There is no file or folder ${path}.`)
  if (found.isDirectory()) return await readMultiSweBench(path)
  const value = parsed(await readFile(path, 'utf8'))
  const kind = basename(path, '.json')
  if (isInterCode(value)) return readInterCode(value, kind)
  if (isTauBench(value)) return readTauBench(value, kind)
  throw new ReplayError(`${path} has no runs with outcomes of InterCode or tau-bench.`)
}

async function readMultiSweBench(folder: string): Promise<LabelledRun[]> {
  const results = await readFile(join(folder, 'results/results.json'), 'utf8').catch(() => undefined)
  const names = await readdir(join(folder, 'trajs')).catch(() => [])
  const verdicts = parsed(results ?? '')
  if (!isObject(verdicts) || names.length === 0)
    throw new ReplayError(`${folder} has no results/results.json with trajectories in trajs beside it.`)
  const { submitted_ids: submitted, resolved_ids: resolvedIds, resolved: list = resolvedIds } = objectOf(verdicts)
  const [judged, resolved] = [new Set(listOf(submitted)), new Set(listOf(list))]
  const runs: LabelledRun[] = []
  for (const name of names.filter((one) => one.endsWith('.traj')).toSorted()) {
    const id = basename(name, '.traj')
    if (!judged.has(id)) continue
    const session = await readText(await readFile(join(folder, 'trajs', name), 'utf8'), name)
    const verdict = resolved.has(id) ? 'passed' : 'failed'
    runs.push({ kind: basename(folder), session: marked(session, ofShell), verdict })
  }
  return runs
}
