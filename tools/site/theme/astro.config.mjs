import { readFileSync } from 'node:fs'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'

/** Description of this version by `tools/site/buildSite.ts`. */
const site = JSON.parse(readFileSync(new URL('site.json', import.meta.url), 'utf8'))

// oxlint-disable-next-line import/no-default-export -- Astro reads it so.
export default defineConfig({
  ...(site.origin === undefined ? {} : { site: site.origin }),
  base: site.base,
  outDir: site.outDir,
  cacheDir: site.cacheDir,
  trailingSlash: 'always',
  devToolbar: { enabled: false },
  image: { service: passthroughImageService() },
  build: { assets: 'assets', concurrency: 4 },
  integrations: [
    starlight({
      title: 'escapement',
      description: 'An actor-based multi-agent runtime for TypeScript.',
      customCss: ['./src/styles/site.css'],
      components: {
        Banner: './src/components/Banner.astro',
        Head: './src/components/Head.astro',
        MarkdownContent: './src/components/MarkdownContent.astro',
        PageTitle: './src/components/PageTitle.astro',
        SiteTitle: './src/components/SiteTitle.astro',
        LanguageSelect: './src/components/VersionMenu.astro',
      },
      sidebar: site.sidebar,
      ...(site.repository === undefined
        ? {}
        : { social: [{ icon: 'seti:git', label: 'Repository', href: site.repository }] }),
      routeMiddleware: './src/routeData.ts',
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      // Titles count as headings of their pages already; more would put every type of that name first.
      pagefind: { ranking: { termFrequency: 0.3, pageLength: 0.2, metaWeights: { title: 0.2 } } },
      expressiveCode: { styleOverrides: { borderRadius: '0.5rem', codeFontSize: '0.84rem' } },
    }),
  ],
})
