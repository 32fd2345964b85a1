import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../charts/packageFile.ts'

/** What a page of a report looks like and does. The build puts them in place of this file. */
export interface ReportAssets {
  readonly style: string
  readonly script: string
}

const page = 'src/evaluation/report/page/'

/** From the sources: what runs in the page is one function, which needs nothing around it. */
export async function reportAssets(): Promise<ReportAssets> {
  const [tokens, style, client] = await Promise.all([
    readFile(packageFile('src/inspector/styles/tokens.css')!, 'utf8'),
    readFile(packageFile(`${page}style.css`)!, 'utf8'),
    // Not named in an import, as it is typed for a browser.
    import(packageFile(`${page}client/showReport.ts`)!.href) as Promise<{ readonly showReport: () => void }>,
  ])
  return { style: `${tokens}${style}`, script: `(${String(client.showReport)})()` }
}
