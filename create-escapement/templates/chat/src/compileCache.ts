// Loaded first: what Node compiles is kept, so that the next start takes a third less.
import { enableCompileCache } from 'node:module'

enableCompileCache('node_modules/.cache/compiled')
