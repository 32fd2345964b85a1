import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { jsonReport } from './jsonReport.ts'
import { junitReport } from './junitReport.ts'
import { markdownReport } from './markdownReport.ts'
import type { Report } from './report.ts'

/** The files of a report, and what makes them. */
const files: Readonly<Record<string, (report: Report) => string>> = {
  'report.json': jsonReport,
  'report.md': markdownReport,
  'report.junit.xml': junitReport,
}

/** Writes a report into a folder, in every form; resolves with the paths of the files. */
export async function writeReport(folder: string, report: Report): Promise<string[]> {
  const paths: string[] = []
  for (const [name, make] of Object.entries(files)) {
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, make(report))
    paths.push(path)
  }
  return paths
}
