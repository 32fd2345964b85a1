import { settings } from './settings.mjs'

for (const [name, value] of Object.entries(settings)) console.log(`${name}: ${value}`)
