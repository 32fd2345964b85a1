import { connect } from 'escapement/client'

globalThis.shown = typeof connect
