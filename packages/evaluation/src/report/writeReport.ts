import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { jsonReport } from './jsonReport.ts'
import { junitReport } from './junitReport.ts'
import { markdownReport } from './markdownReport.ts'
import { pageReport, type ShownSessions } from './page/pageReport.ts'
import { reportAssets } from './page/reportAssets.ts'
import type { Report } from './report.ts'

/** Writes pages of the sessions of these agents into a folder, and returns which of them the pages show; `undefined` if none could be made. */
export type WriteSessions = (folder: string, agentIds: readonly string[]) => Promise<ShownSessions | undefined>

export interface WriteReportOptions {
  /** Writes the pages of sessions. Without it, the page of the report links to no sessions. */
  readonly sessions?: WriteSessions
}

/** Files made from a report as one text each, by name. */
const files: Readonly<Record<string, (report: Report) => string>> = {
  'report.json': jsonReport,
  'report.md': markdownReport,
  'report.junit.xml': junitReport,
}

/**
 * Writes a report into a folder: `report.json`, `report.md`, `report.junit.xml`, and the page `report/index.html`, beside which the sessions
 * are. Resolves with the paths of these four.
 */
export async function writeReport(
  folder: string,
  report: Report,
  { sessions }: WriteReportOptions = {},
): Promise<string[]> {
  const paths: string[] = []
  const write = async (name: string, text: string): Promise<void> => {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    paths.push(path)
  }
  for (const [name, make] of Object.entries(files)) await write(name, make(report))
  const began = report.results.filter(({ metrics }) => metrics !== null).map(({ agentId }) => agentId)
  const shown = began.length === 0 ? undefined : await sessions?.(join(folder, 'report'), began)
  await write('report/index.html', pageReport(report, await reportAssets(), shown))
  return paths
}
