import { docsLoader } from '@astrojs/starlight/loaders'
import { docsSchema } from '@astrojs/starlight/schema'
import { defineCollection } from 'astro:content'
import { z } from 'astro/zod'

export const collections = {
  docs: defineCollection({
    loader: docsLoader(),
    schema: docsSchema({
      extend: z.object({
        scripts: z.array(z.string()).default([]),
        isWide: z.boolean().default(false),
        isStart: z.boolean().default(false),
      }),
    }),
  }),
}
