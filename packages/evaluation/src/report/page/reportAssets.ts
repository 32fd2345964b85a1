import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../../charts/src/packageFile.ts'

/** Style and script of a report's page. The build embeds them in place of this file. */
export interface ReportAssets {
  readonly style: string
  readonly script: string
}

const page = 'packages/evaluation/src/report/page/'

/** Reads the assets from the sources. The script is one function, which needs nothing outside itself. */
export async function reportAssets(): Promise<ReportAssets> {
  const [tokens, style, client] = await Promise.all([
    readFile(packageFile('packages/page/src/inspector/styles/tokens.css')!, 'utf8'),
    readFile(packageFile(`${page}style.css`)!, 'utf8'),
    // Not named in an import, as it is typed for a browser.
    import(packageFile(`${page}client/showReport.ts`)!.href) as Promise<{ readonly showReport: () => void }>,
  ])
  return { style: `${tokens}${style}`, script: `(${String(client.showReport)})()` }
}
