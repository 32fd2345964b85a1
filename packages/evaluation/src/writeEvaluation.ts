import { join } from 'node:path'
import { writeSessionPages } from '../../page/src/sessionPages/writeSessionPages.ts'
import { hasCode, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import type { Report } from './report/report.ts'
import { writeReport } from './report/writeReport.ts'

/**
 * Writes the report of an evaluation into its folder, in every form. In a built package, the page leads to the session of every trial, shown as in
 * the inspector, without a server.
 *
 * @throws RuntimeError `EVALUATION_UNREPORTED` if a file of the report cannot be written
 */
export async function writeEvaluation(folder: string, report: Report): Promise<void> {
  const store = fileStore(join(folder, 'sessions'))
  await writeReport(folder, report, {
    async sessions(place, agentIds) {
      try {
        const { page, written } = await writeSessionPages(place, store, agentIds)
        return { page, agentIds: written }
      } catch (thrown) {
        // In a repository that was not built the report stands alone.
        if (hasCode(thrown, 'FILE_MISSING')) return undefined
        throw thrown
      }
    },
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof Error && 'syscall' in thrown)) throw thrown
    const what = `The report could not be written: ${messageOf(thrown)}.`
    throw new RuntimeError('EVALUATION_UNREPORTED', what, { cause: thrown })
  })
}
