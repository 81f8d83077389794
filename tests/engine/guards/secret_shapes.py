"""The shapes of real keys, by vendor, and texts that only look like one.

The keys are made here at random, in the alphabet and length that the vendor documents, so that no scanner takes this file
for a leak. ``{x32}`` stands for 32 lower-case hex digits, and so on (``ALPHABETS``).
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import uuid

_NO_SIGNS = str.maketrans("+/", "xy")
_LOWER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
ALPHABETS = {
    "x": _DIGITS + "abcdef", "X": _DIGITS + "ABCDEF", "d": _DIGITS, "l": _LOWER + _DIGITS, "a": _LOWER + _LOWER.upper(),
    "B": _LOWER + _LOWER.upper() + _DIGITS, "w": _LOWER + _LOWER.upper() + _DIGITS + "_-",
    "b": _LOWER + _LOWER.upper() + _DIGITS + "+/", "U": _LOWER.upper() + _DIGITS, "T": _LOWER.upper() + "234567",
}  # fmt: skip

# Vendor, the words around it, the key.
SHAPES: tuple[tuple[str, str, str], ...] = (
    ("1password account", "emergency kit: {}", "A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}"),
    ("adafruit io", "the aio key is {}", "aio_{B28}"),
    ("adobe", "client secret {} for the PDF service", "p8e-{w32}"),
    ("age", "{}", "AGE-SECRET-KEY-1{age58}"),
    ("airtable", "use this pat for the base: {}", "pat{B14}.{x64}"),
    ("algolia", "our Algolia admin API key is {}", "{x32}"),
    ("alibaba cloud", "RAM user id {} please rotate", "LTAI5t{B18}"),
    ("anthropic", "I put {} into the .env", "sk-ant-api03-{w93}AA"),
    ("anthropic oauth", "claude setup-token gave me {}", "sk-ant-oat01-{w93}AA"),
    ("artifactory", "curl -H 'X-JFrog-Art-Api: {}' https://repo.example.org", "AKCp{B69}"),
    ("asana", "asana personal access token {}", "1/{d16}:{x32}"),
    ("atlassian", "jira api token: {}", "ATATT3xFfGF0{w170}={X8}"),
    ("bitbucket app password", "git clone with {}", "ATBB{B32}"),
    ("aws access", "aws configure: {} and the other one", "AKIA{T16}"),
    ("aws secret", "AWS_SECRET_ACCESS_KEY={}", "{b40}"),
    ("aws session", "aws_session_token = {}", "IQoJb3JpZ2luX2Vj{b300}"),
    ("aws bedrock", "export AWS_BEARER_TOKEN_BEDROCK={}", "ABSK{b110}=="),
    ("azure client secret", "app registration secret '{}', valid two years", "{B3}8Q~{w34}"),
    ("azure storage", "DefaultEndpointsProtocol=https;AccountName=ada;AccountKey={};", "{b86}=="),
    ("azure sas", "https://ada.blob.core.windows.net/x?sv=2022-11-02&sr=c&sig={}", "{B43}%3D"),
    ("azure devops", "AZURE_DEVOPS_EXT_PAT={}", "{l52}"),
    ("brave search", "BRAVE_API_KEY={}", "BSA{w28}"),
    ("brevo", "the newsletter uses {} now", "xkeysib-{x64}-{B16}"),
    ("buildkite", "pipeline token {}", "bkua_{x40}"),
    ("cerebras", "cerebras: {}", "csk-{l48}"),
    ("circleci", "I made {} for the orb", "CCIPAT_{B22}_{x40}"),
    ("cloudflare", "CLOUDFLARE_API_TOKEN={}", "{w40}"),
    ("clojars", "deploy with {}", "CLOJARS_{x60}"),
    ("cohere", "COHERE_API_KEY: {}", "{B40}"),
    ("contentful", "management token {}", "CFPAT-{w43}"),
    ("coinbase", "coinbase_api_secret = \"{}\"", "{w64}"),
    ("databricks", "databricks configure --token {}", "dapi{x32}-3"),
    ("datadog", "DD_API_KEY={}", "{x32}"),
    ("deepseek", "deepseek key {} costs nearly nothing", "sk-{x32}"),
    ("digitalocean", "doctl auth init -t {}", "dop_v1_{x64}"),
    ("discord bot", "bot.run('{}')", "MT{B22}.G{w5}.{w38}"),
    ("discord webhook", "post to https://discord.com/api/webhooks/{}", "{d19}/{w68}"),
    ("docker hub", "docker login -p {}", "dckr_pat_{w27}"),
    ("doppler", "doppler run --token {}", "dp.st.prd.{B43}"),
    ("dropbox", "DROPBOX_ACCESS_TOKEN={}", "sl.{w136}"),
    ("dynatrace", "the agent wants {}", "dt0c01.{U24}.{U64}"),
    ("easypost", "shipping: {}", "EZAK{B54}"),
    ("elevenlabs", "xi-api-key: {}", "sk_{x48}"),
    ("facebook", "page token {}", "EAAC{B180}"),
    ("figma", "figma token is {}", "figd_{w40}"),
    ("fireworks", "FIREWORKS_API_KEY={}", "fw_{B24}"),
    ("fly.io", "fly deploy needs {}", "fm2_{b400}"),
    ("github classic", "git push https://{}@github.com/ada/x.git", "ghp_{B36}"),
    ("github fine-grained", "the token is {}.", "github_pat_{B22}_{B59}"),
    ("github app", "GITHUB_TOKEN: {}", "ghs_{B36}"),
    ("gitlab", "GITLAB={}", "glpat-{w20}"),
    ("gitlab runner", "gitlab-runner register --token {}", "glrt-{w20}"),
    ("gitlab trigger", "curl -F token={} -F ref=main", "glptt-{x40}"),
    ("google api", "maps loads with ?key={}", "AIza{w35}"),
    ("google oauth secret", "client secret: {}", "GOCSPX-{w28}"),
    ("google refresh", "refresh with {}", "1//0{w90}"),
    ("grafana", "grafana datasource {}", "glsa_{B32}_{x8}"),
    ("grafana cloud", "loki auth {}", "glc_{b120}"),
    ("groq", "groq: {}", "gsk_{B52}"),
    ("harness", "harness login {}", "pat.{B22}.{x24}.{B20}"),
    ("heroku", "HEROKU_API_KEY={}", "{x8}-{x4}-4{x3}-a{x3}-{x12}"),
    ("heroku new", "heroku authorizations:create says {}", "HRKU-AA{w58}"),
    ("hubspot", "private app token {}", "pat-na1-{x8}-{x4}-{x4}-{x4}-{x12}"),
    ("hugging face", "huggingface-cli login --token {}", "hf_{a34}"),
    ("infracost", "{} for the plan comments", "ico-{B32}"),
    ("jwt", "the session was {}", "eyJhbGciOiJIUzI1NiJ9.eyJ{w60}.{w43}"),
    ("langfuse", "LANGFUSE_SECRET_KEY: {}", "sk-lf-{x8}-{x4}-{x4}-{x4}-{x12}"),
    ("langsmith", "tracing with {}", "lsv2_pt_{x32}_{x10}"),
    ("launchdarkly", "sdk key {}", "sdk-{x8}-{x4}-{x4}-{x4}-{x12}"),
    ("linear", "linear webhook auth {}", "lin_api_{B40}"),
    ("mailchimp", "mailchimp api key {}", "{x32}-us14"),
    ("mailgun", "mailgun: {}", "key-{x32}"),
    ("mapbox", "secret scope {}", "sk.eyJ1{B60}.{w22}"),
    ("mistral", "MISTRAL_API_KEY={}", "{B32}"),
    ("mongodb", "mongodb+srv://ada:{}@cluster0.example.mongodb.net/app", "{B16}"),
    ("neon", "neonctl uses {}", "napi_{l64}"),
    ("netlify", "netlify deploy --auth {}", "nfp_{B36}"),
    ("new relic", "license NEW_RELIC_API_KEY={}", "NRAK-{U27}"),
    ("ngrok", "ngrok config add-authtoken {}", "2{B26}_{B20}"),
    ("notion", "notion integration {}", "ntn_{d11}{B35}"),
    ("notion old", "notion: {}", "secret_{B43}"),
    ("npm", "//registry.npmjs.org/:_authToken={}", "npm_{B36}"),
    ("nuget", "dotnet nuget push -k {}", "oy2{l43}"),
    ("nvidia", "NIM key {}", "nvapi-{w64}"),
    ("octopus deploy", "octo push with {}", "API-{U26}"),
    ("okta", "OKTA_API_TOKEN={}", "00{w40}"),
    ("openai project", "export OPENAI_API_KEY={}", "sk-proj-{w74}T3BlbkFJ{w74}"),
    ("openai old", "I pasted {} into the notebook", "sk-{B20}T3BlbkFJ{B20}"),
    ("openrouter", "router {}", "sk-or-v1-{x64}"),
    ("pagerduty", "PAGERDUTY_TOKEN={}", "u+{w18}"),
    ("paypal", "braintree says {}", "access_token$production${l16}${x32}"),
    ("perplexity", "pplx: {}", "pplx-{B48}"),
    ("pinecone", "pinecone.init({})", "pcsk_{B6}_{B63}"),
    ("planetscale", "pscale {}", "pscale_tkn_{w43}"),
    ("postgres url", "DATABASE_URL=postgresql://app:{}@db.internal:5432/app", "{B20}"),
    ("posthog", "personal key {}", "phx_{B43}"),
    ("postman", "newman run --postman-api-key {}", "PMAK-{x24}-{x34}"),
    ("prefect", "prefect cloud login -k {}", "pnu_{B36}"),
    ("pulumi", "pulumi login token {}", "pul-{x40}"),
    ("pypi", "twine upload -p {}", "pypi-AgEIcHlwaS5vcmc{w150}"),
    ("readme", "docs sync {}", "rdme_x{l69}"),
    ("render", "render deploys with {}", "rnd_{B28}"),
    ("replicate", "REPLICATE={}", "r8_{B37}"),
    ("resend", "resend.emails: {}", "re_{B8}_{B24}"),
    ("rubygems", "gem push with {}", "rubygems_{x48}"),
    ("sendgrid", "mail goes through {}", "SG.{w22}.{w43}"),
    ("sentry", "sentry-cli login {}", "sntryu_{x64}"),
    ("sentry dsn", "dsn https://{}@o1.ingest.sentry.io/2", "{x32}"),
    ("shopify", "the shop app has {}", "shpat_{x32}"),
    ("slack bot", "{} is the bot's", "xoxb-{d12}-{d13}-{B24}"),
    ("slack user", "mine is {}", "xoxp-{d12}-{d12}-{d13}-{x32}"),
    ("slack app", "socket mode {}", "xapp-1-A{U10}-{d13}-{x64}"),
    ("slack webhook", "notify https://hooks.slack.com/services/{}", "T{U10}/B{U10}/{B24}"),
    ("sonarqube", "sonar.login={}", "squ_{x40}"),
    ("sourcegraph", "cody {}", "sgp_{x16}_{x40}"),
    ("square", "square pos {}", "EAAA{w60}"),
    ("stripe live", "charge with {}", "sk_live_{B99}"),
    ("stripe restricted", "rk for reports {}", "rk_live_{B24}"),
    ("stripe webhook", "endpoint secret {}", "whsec_{B32}"),
    ("supabase", "supabase link with {}", "sbp_{x40}"),
    ("supabase secret", "service: {}", "sb_secret_{w31}"),
    ("tailscale", "tailscale up --authkey {}", "tskey-auth-{B17}-{B32}"),
    ("tavily", "search tool {}", "tvly-dev-{B32}"),
    ("telegram", "botfather gave {}", "{d10}:AA{w33}"),
    ("terraform cloud", "terraform login: {}", "{B14}.atlasv1.{w67}"),
    ("together", "TOGETHER_API_KEY={}", "{x64}"),
    ("twilio", "TWILIO_AUTH_TOKEN={}", "{x32}"),
    ("twilio key", "twilio api sid {}", "SK{x32}"),
    ("twitch", "twitch client_secret: {}", "{l30}"),
    ("typeform", "forms: {}", "tfp_{w44}_{w14}"),
    ("vault", "VAULT_TOKEN={}", "hvs.{w95}"),
    ("vercel", "VERCEL_TOKEN={}", "{B24}"),
    ("voyage", "embeddings {}", "pa-{w43}"),
    ("weights and biases", "wandb login {}", "{x40}"),
    ("x bearer", "twitter bearer token: {}", "AAAAAAAAAAAAAAAAAAAAA{B90}"),
    ("xai", "grok {}", "xai-{B80}"),
    ("yandex", "YANDEX_API_KEY={}", "AQVN{w36}"),
    ("zapier hook", "https://hooks.zapier.com/hooks/catch/{}", "{d7}/{l7}"),
    ("zendesk", "zendesk api token {}", "{B40}"),
)  # fmt: skip


def is_held(vendor: str) -> bool:
    """Half of the vendors: no rule was written with a look at which of these is missed."""
    return hashlib.sha256(vendor.encode()).digest()[0] % 2 == 1


def made(shape: str, chance: random.Random) -> str:
    """A random key of the shape, with a digit in each long part that may have one."""

    def part(match: re.Match[str]) -> str:
        if match[1] == "age":
            return "".join(chance.choices("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", k=int(match[2])))
        text = "".join(chance.choices(ALPHABETS[match[1]], k=int(match[2])))
        return text[:-1] + "7" if len(text) > 8 and match[1] != "a" else text

    return re.sub(r"\{(age|[a-zA-Z])(\d+)\}", part, shape)


def secrets(seed: int = 11) -> list[tuple[str, str, str]]:
    """Vendor, text, and the key in it."""
    chance = random.Random(seed)
    found = []
    for vendor, words, shape in SHAPES:
        key = made(shape, chance)
        found.append((vendor, words.replace("{}", key), key))
    return found


def _lookalikes() -> tuple[str, ...]:
    chance = random.Random(5)

    def digits(count: int) -> str:
        return "".join(chance.choices(_DIGITS, k=count))

    def hexes(count: int) -> str:
        return "".join(chance.choices("0123456789abcdef", k=count))

    def identity() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))

    def encoded(count: int) -> str:
        return base64.b64encode(chance.randbytes(count)).decode()

    return (
        f"session {identity()} ended", f"request-id: {identity()}", f"heroku release of build {identity()} went out",
        f"the snyk report {identity()} is open", f"plaid item {identity()}", f"sendbird channel {identity()}",
        f"fixed in {hexes(40)}", f"datadog agent at commit {hexes(40)}", f"git checkout {hexes(12)} && make",
        f"bitbucket merge {hexes(40)} is on main", f"sonar scan of {hexes(40)} is green", f"okta-sdk at {hexes(40)}",
        f"sha256:{hexes(64)}", f"sha1 {hexes(40)}  linux.iso", f"md5sum is {hexes(32)}", f"sha256-{encoded(32)}",
        f"integrity=\"sha512-{encoded(64)}\"", f"docker pull redis@sha256:{hexes(64)}", f"etag: \"{hexes(32)}\"",
        f"h1:{encoded(32)}", f"![photo](data:image/png;base64,{encoded(2000)})", f"data:font/woff2;base64,{encoded(900)}",
        f"the thumbnail is {encoded(300)}", "Call +44 20 7946 0958 or 0800 123 4567 890", f"phone {digits(11)}",
        f"order {digits(16)} is late", f"parcel {digits(18)}", f"tweet {digits(19)} was deleted", f"ISBN 978{digits(10)}",
        f"youtube.com/watch?v={encoded(8)[:11].translate(_NO_SIGNS)}", f"https://example.org/p/{hexes(24)}/edit",
        f"https://drive.google.com/file/d/1{encoded(24).translate(_NO_SIGNS)}/view",
        f"https://docs.google.com/document/d/1{encoded(33).translate(_NO_SIGNS)}/edit", f"mongo _id {hexes(24)}",
        f"trace {hexes(32)} span {hexes(16)}", f"traceparent: 00-{hexes(32)}-{hexes(16)}-01",
        f"fact_{hexes(12)} supersedes fact_{hexes(12)}", f"eth 0x{hexes(40)} got the refund", f"tx 0x{hexes(64)}",
        f"bitcoin block 000000000000000000{hexes(46)}", f"color #{hexes(6)} and #{hexes(8)}",
        f"mac {':'.join(hexes(2) for _ in range(6))}", f"ipv6 2001:db8:{hexes(4)}:{hexes(4)}::{hexes(4)}",
        f"fingerprint SHA256:{encoded(32).rstrip('=')}",
        "ssh-rsa " + "AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + encoded(200) + " ada@laptop",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + encoded(33).rstrip("=") + " ada@laptop",
        "-----BEGIN CERTIFICATE-----\n" + encoded(600) + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + encoded(90) + "\n-----END PUBLIC KEY-----",
        f"arn:aws:iam::{digits(12)}:role/deploy", f"ami-0{hexes(16)} in eu-west-1", f"vpc-{hexes(17)}",
        f"i-{hexes(17)} stopped", f"projects/ada-prod-{digits(6)}/secrets/db-password/versions/3",
        "gs://ada-backups-2024/nightly/dump-2024-05-06.sql.gz",
        f"stripe pk_live_{encoded(18)} is the publishable one".translate(_NO_SIGNS),
        f"cus_{encoded(10)[:14]} pays monthly".translate(_NO_SIGNS), f"price_1{encoded(17)[:23]}".translate(_NO_SIGNS),
        f"slack channel C0{digits(3)}ABCDEF1", f"jira PROJ-{digits(5)}", f"CVE-2024-{digits(5)} and GHSA-jfh8-c2jp-5v3q",
        "v1.0-alpha.20240506.build.1234567890", "torch-2.3.1+cu121-cp311-cp311-linux_x86_64.whl",
        "the flight LH1234 departs 2024-05-06T10:15:00.123456+02:00", "ENTJ, RHCE9, EIP-4844, RFC-8725, ISO-27001-2022",
        "sk-learn-pipelines-are-neat, sk-SK locale, task-sk-120394-something", "r8_amd64 and re_compile_fastmap are names",
        "hf_hub_download(repo_id)", "npm_config_user_agent, npm_lifecycle_event", "glpat-style tokens begin with glpat-",
        "the prefix ghp_ means a classic token", "fw_printenv and fw_setenv", "secret_manager_client_library_for_python",
        "secret_sharing_scheme_with_threshold", "nfp_treasury_reporting_service", "pat-down searches at the airport",
        "API-FIRST-DESIGN-PRINCIPLES-AND", "key-value-store-with-a-very-long-name-indeed", "AKIAYLTEDXAMPLENOTSOLONG",
        "access_token is a column, refresh_token too", "client_secret: str = Field(default_factory=read_secret)",
        "api_key = load_api_key_from_environment_variable()", "token: Annotated[str, Depends(oauth2_scheme)]",
        "TOKEN_REFRESH_INTERVAL_SECONDS=3600, SECRET_ROTATION_DAYS=90", "Authorization: Bearer <your token here>",
        "password: str | None = None", "cloudflare-workers-and-durable-objects-in-production",
        "the vercel deployment dpl_Abc is at https://ada-git-main-team.vercel.app",
        "Donaudampfschifffahrtsgesellschaftskapitänsmützen sind teuer",
        "pneumonoultramicroscopicsilicovolcanoconiosis is a long word",
        f"zendesk ticket {digits(9)} and intercom conversation {digits(15)}", f"algolia object {hexes(32)} was reindexed",
        f"mailgun message <{digits(14)}.{hexes(10)}@mg.example.org>",
        "The linear algebra course: chapter12, section4, exercise17, page1234567890",
        "confluent: meeting notes 2024 05 06 about kafka topics", "the etsy listing 1234567890123456 sold twice",
        "the password manager is 1Password; its vault is called Family-2024",
        f"discord user {digits(18)} asked in channel {digits(18)}",
        f"wandb run {encoded(6)[:8]} has loss 0.0312".translate(_NO_SIGNS), f"notion page {hexes(32)}",
        f"figma file {encoded(16)[:22]} frame 12:345".translate(_NO_SIGNS),
        "first line of the list\nsecond_line_of_the_list\nthird-line-of-the-list",
        "ghp_\nis the prefix\nof classic tokens", "words_in_a_column\nsk-estimator\nhelloworldagain\nanotherlongword",
        "the terraform provider registry.terraform.io/hashicorp/aws 5.31.0",
    )  # fmt: skip


LOOKALIKES = _lookalikes()
