import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { lighten } from './lighten.ts'
import { menu as newestMenu, type MenuGroup } from './menu.ts'
import { apiPages } from './prepare/apiPages.ts'
import { collectPages } from './prepare/collectPages.ts'
import { liveModules } from './prepare/liveModules.ts'
import { llmsText } from './prepare/llmsText.ts'
import { ownPages } from './prepare/ownPages.ts'
import { recordedPage, recordedSession } from './prepare/recordedSession.ts'
import { sidebarOf } from './prepare/sidebar.ts'
import { contentFile, type SitePage } from './prepare/sitePage.ts'
import { placed, type PlacedVersion, type Version } from './prepare/versions.ts'

/** Sources and destination of the site. */
export interface SiteOptions {
  readonly versions: readonly Version[]
  /** A folder with `node_modules` that has Astro and TypeDoc: what tools/site/package-lock.json installs. */
  readonly packages: string
  readonly outDir: string
  /** Where Astro works: a folder in `packages`, since it finds its packages above. One build at a time. */
  readonly work: string
  /** Where it will be served: `/`, or `/escapement/`. */
  readonly root?: string
  /** Where it will be reached, such as `https://docs.example.com`: for the sitemap and the picture of links, which want whole addresses. */
  readonly origin?: string | undefined
  /** Address of the repository, such as `https://host/owner/name`: for a link to it, and one on each page to change the page there. */
  readonly repository?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly print?: (line: string) => void
}

/** A version that is ready for Astro. */
export interface PreparedVersion extends PlacedVersion {
  readonly pages: readonly SitePage[]
  /** Astro's project. */
  readonly project: string
}

const theme = join(import.meta.dirname, 'theme')
const icon = join(import.meta.dirname, '..', '..', 'packages', 'page', 'src', 'inspector', 'public', 'icon.svg')

/** Puts the projects of all versions in place. Pages are made of files as they are now. */
export async function prepareSite(options: SiteOptions): Promise<readonly PreparedVersion[]> {
  const { packages, outDir, work, root = '/', origin, repository, signal } = options
  const versions: PreparedVersion[] = []
  for (const version of placed(options.versions)) {
    const kept = join(packages, '.api')
    const isWhole = existsSync(join(version.root, 'src'))
    const pages = [
      ...(await ownPages(version.root)),
      ...(await collectPages(version.root)),
      ...(isWhole ? await apiPages({ root: version.root, packages, kept, signal }) : []),
    ]
    versions.push({ ...version, pages: onlyOnce(pages), project: join(work, version.name) })
  }
  const served = versions.map(({ name, label, isReleased, isNewest, folder, pages }) => ({
    name,
    label,
    isReleased,
    isNewest,
    folder,
    slugs: pages.map(({ slug }) => slug),
  }))
  for (const version of versions) {
    const { name, project, pages, folder } = version
    await writeProject(version, project, pages, repository)
    await liveModules(version.root, join(project, 'public', 'live'))
    const recorded = await recordedSession(version.root, join(packages, '.recorded'))
    if (recorded !== undefined) await cp(recorded, join(project, 'public', recordedPage))
    const ownMenu = await menuOf(version)
    const base = `${root}${folder}`
    await writeFile(join(project, 'public', 'llms.txt'), llmsText(ownMenu, pages, `${origin ?? ''}${base}`))
    const site = {
      root,
      origin,
      repository,
      version: name,
      versions: served,
      base,
      outDir: join(outDir, folder),
      cacheDir: join(project, '.cache'),
      sidebar: sidebarOf(ownMenu, pages),
    }
    await writeFile(join(project, 'site.json'), JSON.stringify(site))
  }
  return versions
}

/** Builds all versions into `outDir`, which is emptied first. */
export async function buildSite(options: SiteOptions): Promise<readonly PreparedVersion[]> {
  const versions = await prepareSite(options)
  await rm(options.outDir, { recursive: true, force: true })
  // The root first: Astro empties the folder it writes to.
  for (const { name, label, project, pages, folder } of versions.toSorted(
    (a, b) => a.folder.length - b.folder.length,
  )) {
    options.print?.(`${label}: ${pages.length} pages`)
    await astro(options, project, ['build']).catch((thrown: unknown) => {
      throw new Error(`Astro did not build ${name}.`, { cause: thrown })
    })
    await lighten(join(options.outDir, folder), `${options.root ?? '/'}${folder}`)
  }
  return versions
}

/** Runs Astro in a project. Resolves when it ends well. */
export function astro(
  { packages, signal, print }: Pick<SiteOptions, 'packages' | 'signal' | 'print'>,
  project: string,
  args: readonly string[],
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const program = join(packages, 'node_modules', 'astro', 'bin', 'astro.mjs')
  const child = spawn(process.execPath, [program, ...args, '--root', project], {
    cwd: project,
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1', FORCE_COLOR: '0' },
    stdio: print === undefined ? 'inherit' : 'pipe',
    signal,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += String(chunk)))
  child.once('error', reject)
  child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`Astro ended with code ${code}.\n${said}`))))
  return promise
}

/** @throws Error when two pages would stand at one address. */
function onlyOnce(pages: readonly SitePage[]): readonly SitePage[] {
  const bySlug = new Map<string, SitePage>()
  for (const page of pages) {
    const other = bySlug.get(page.slug)
    if (other !== undefined)
      throw new Error(`${page.path ?? page.title} and ${other.path ?? other.title} would both stand at /${page.slug}/.`)
    bySlug.set(page.slug, page)
  }
  return pages
}

async function menuOf({ root }: Version): Promise<readonly MenuGroup[]> {
  const file = join(root, 'tools', 'site', 'menu.ts')
  return existsSync(file) ? ((await import(file)) as { readonly menu: readonly MenuGroup[] }).menu : newestMenu
}

async function writeProject(
  { root }: Version,
  project: string,
  pages: readonly SitePage[],
  repository: string | undefined,
): Promise<void> {
  const content = join(project, 'src', 'content', 'docs')
  for (const part of ['src', 'public']) await rm(join(project, part), { recursive: true, force: true })
  await cp(theme, project, { recursive: true })
  await cp(icon, join(project, 'public', 'favicon.svg'))
  const pictures = join(root, 'docs', 'pictures')
  if (existsSync(pictures)) await cp(pictures, join(project, 'public', 'pictures'), { recursive: true })
  for (const page of pages) {
    const file = join(content, `${page.slug === '' ? 'index' : page.slug}.md`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, contentFile(page, repository))
  }
}
